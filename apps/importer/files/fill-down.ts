import type { Delimiter } from "@work-items/lib/uploads/csv/delimiter.ts";
import { beginsNoGroup } from "../proposals/grouped-columns.ts";
import { changeRows } from "./change-rows.ts";

/** What is filled down in a file. */
export interface Filling {
  /** Number of the header's row. */
  readonly headerRow: number;
  /** The indexes of the columns whose empty cells take the value above. */
  readonly columns: readonly number[];
  /** Numbers of rows that aren't items and stay as they are. Unlike a sum, a row with only the name of a group begins it. */
  readonly others: ReadonlySet<number>;
}

/** Gives empty cells of a CSV text that comes in pieces the value above. Changes nothing else, and no number of a row. */
export function fillRows(
  { headerRow, columns, others }: Filling,
  delimiter: Delimiter,
): TransformStream<string, string> {
  const above = new Map<number, string>();
  let names: readonly string[] = [];
  return changeRows((row, read) => {
    const cells = read();
    if (row === headerRow) names = cells;
    if (row <= headerRow || cells.every((cell) => cell.trim() === "")) return undefined;
    const values = new Map<number, string>();
    const isGroup = !beginsNoGroup(cells, names);
    // A row that is too short stays so: the service reports it.
    for (const index of columns.filter((column) => column < cells.length)) {
      const value = above.get(index);
      const isEmpty = cells[index]!.trim() === "";
      if (isEmpty && value !== undefined && !others.has(row)) values.set(index, value);
      else if (!isEmpty && isGroup) above.set(index, cells[index]!);
    }
    return values.size === 0 ? undefined : values;
  }, delimiter);
}
