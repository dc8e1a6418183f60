import { headingIn, isNeverItem } from "./no-items.ts";

/** Longer texts aren't names of groups. */
const GROUP_MAX_CHARACTERS = 200;
/** In grouped columns, at least one of this many rows has no value. */
const ROWS_TO_EMPTY = 3;

/** Whether a row can't begin a group: a sum, or a repeated header. */
export function beginsNoGroup(cells: readonly string[], names: readonly string[]): boolean {
  return headingIn(cells) !== -1 || isNeverItem(cells, names);
}

interface Column {
  filledRows: number;
  emptyRows: number;
  /** Its last value. */
  last: string;
  /** Whether the row before has this value too. */
  isBelowValue: boolean;
}

/**
 * Finds the columns of a grouped report or of merged cells: those at the left whose values stand only in the first row of a
 * group. Gets the rows of a file in order.
 */
export class GroupedColumns {
  readonly #names: readonly string[];
  /** The first columns, as many as may be grouped. */
  readonly #columns: Column[];

  /** @param names cells of the header */
  constructor(names: readonly string[]) {
    this.#names = names;
    this.#columns = names.map(() => ({ filledRows: 0, emptyRows: 0, last: "", isBelowValue: false }));
  }

  observe({ cells }: { readonly cells: readonly string[] }): void {
    if (this.#columns.length === 0 || cells.every((cell) => cell.trim() === "")) return;
    if (beginsNoGroup(cells, this.#names)) return;
    let beginsOuter = false;
    for (const [index, column] of this.#columns.entries()) {
      const text = (cells[index] ?? "").trim();
      const isRefuted =
        text === ""
          ? beginsOuter
          : (column.filledRows === 0 && column.emptyRows > 0) ||
            (column.isBelowValue && column.last === text && !beginsOuter) ||
            text.length > GROUP_MAX_CHARACTERS;
      if (isRefuted) {
        this.#columns.length = index;
        return;
      }
      column.isBelowValue = text !== "";
      if (text === "") {
        column.emptyRows++;
        continue;
      }
      column.filledRows++;
      column.last = text;
      beginsOuter = true;
    }
  }

  /** The indexes of the grouped columns. */
  result(): number[] {
    const found: number[] = [];
    for (const [index, { filledRows, emptyRows }] of this.#columns.entries()) {
      if (filledRows === 0) continue;
      if (emptyRows * ROWS_TO_EMPTY < filledRows + emptyRows) break;
      found.push(index);
    }
    return found;
  }
}
