import { type CellPlace, placeOf } from "./cell-place.ts";

/** Cells that a sheet shows as one, whose text is that of the first. */
export interface MergedRange {
  readonly first: CellPlace;
  readonly last: CellPlace;
}

/** The range of a reference such as `A2:B4`; undefined if it isn't one. */
export function mergedRangeOf(reference: string): MergedRange | undefined {
  const [first, last] = reference.split(":").map(placeOf);
  return first && last && { first, last };
}

/**
 * Rows in which each row of a merged cell has its text. A row without texts of its own stays empty, as below a header that
 * is two rows high, and so do the other columns of a wide cell: a title above the header isn't the name of each column.
 * @returns also the merged cells that have a text
 */
export function withMergedValues(rows: string[][], ranges: readonly MergedRange[]) {
  const textAt = ({ row, column }: CellPlace): string => rows[row - 1]?.[column - 1] ?? "";
  const merged = ranges.filter(({ first }) => textAt(first) !== "");
  const own = rows.map(({ length }) => length > 0);
  // Cells are merged once. A file in which they aren't would take long.
  const filled = new Map<number, number>();
  for (const { first, last } of merged.toSorted((a, b) => a.first.row - b.first.row)) {
    const from = Math.max(first.row, filled.get(first.column) ?? 0);
    for (let row = from + 1; row <= Math.min(last.row, rows.length); row++) {
      const cells = rows[row - 1]!;
      if (!own[row - 1] || (cells[first.column - 1] ?? "") !== "") continue;
      while (cells.length < first.column) cells.push("");
      cells[first.column - 1] = textAt(first);
    }
    filled.set(first.column, Math.max(from, Math.min(last.row, rows.length)));
  }
  return { rows, merged };
}
