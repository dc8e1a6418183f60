import { COMMA } from "@work-items/lib/uploads/csv/delimiter.ts";
import { withoutRows } from "./change-rows.ts";
import type { Sheet } from "./workbook.ts";

/** The numbers of the rows below a header that a sheet hides. */
export function hiddenBelow({ hiddenRows }: Sheet, headerRow: number): number[] {
  return hiddenRows.filter((row) => row > headerRow);
}

/** Says how many rows a sheet hides, for example by a filter. */
export function shownHidden(rows: number): string {
  return `${rows === 1 ? "1 row is" : `${rows.toLocaleString("en-US")} rows are`} hidden in the workbook`;
}

/** The CSV of a sheet with blank lines for hidden rows, so that all others keep their numbers. */
export function withoutHidden(csv: Blob, hidden: readonly number[]): Promise<Blob> {
  return withoutRows(csv, new Set(hidden), COMMA);
}
