import type { Delimiter } from "@work-items/lib/uploads/csv/delimiter.ts";
import { beginsNoGroup } from "../proposals/grouped-columns.ts";
import { changeRows, type NewCells } from "./change-rows.ts";

/** What is filled down in a file. */
export interface Filling {
  /** Number of the header's row. */
  readonly headerRow: number;
  /** The indexes of the columns whose empty cells take the value above. */
  readonly columns: readonly number[];
  /** Numbers of rows that aren't items and stay as they are. Unlike a sum, a row with only the name of a group begins it. */
  readonly others: ReadonlySet<number>;
}

/** Finds the values of empty cells. Gets the rows of a file in order, from its header on. */
class FillDown {
  readonly #filling: Filling;
  readonly #above = new Map<number, string>();
  #names: readonly string[] = [];

  constructor(filling: Filling) {
    this.#filling = filling;
  }

  /** The values of a row's empty cells. @param row its number as in a spreadsheet */
  valuesFor(row: number, cells: readonly string[]): NewCells {
    const { headerRow, columns, others } = this.#filling;
    const values = new Map<number, string>();
    if (row === headerRow) this.#names = cells;
    if (row <= headerRow || cells.every((cell) => cell.trim() === "")) return values;
    const isGroup = !beginsNoGroup(cells, this.#names);
    // A row that is too short stays so: the service reports it.
    for (const index of columns.filter((column) => column < cells.length)) {
      const above = this.#above.get(index);
      const isEmpty = cells[index]!.trim() === "";
      if (isEmpty && above !== undefined && !others.has(row)) values.set(index, above);
      else if (!isEmpty && isGroup) this.#above.set(index, cells[index]!);
    }
    return values;
  }
}

/** Gives empty cells of a CSV text that comes in pieces the value above. Changes nothing else, and no number of a row. */
export function fillRows(filling: Filling, delimiter: Delimiter): TransformStream<string, string> {
  const filler = new FillDown(filling);
  return changeRows((row, cells) => {
    const values = filler.valuesFor(row, cells());
    return values.size === 0 ? undefined : values;
  }, delimiter);
}
