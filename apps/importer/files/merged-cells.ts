/** Position of a cell in a sheet, counted from 1. */
export interface CellPosition {
  readonly row: number;
  readonly column: number;
}

/** The position of a cell such as `AB12`; undefined if the text doesn't name one. */
export function positionOf(reference: string): CellPosition | undefined {
  const [, letters, digits] = /^\$?([A-Z]{1,3})\$?(\d+)$/i.exec(reference) ?? [];
  if (letters === undefined) return undefined;
  const column = Array.from(letters.toUpperCase()).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
  return { row: Number(digits), column };
}

/** The name of a cell in spreadsheets: `AB12`. */
export function referenceTo({ row, column }: CellPosition): string {
  let letters = "";
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  }
  return `${letters}${row}`;
}

/** Cells that a sheet shows as one, with the text of the first. */
export interface MergedRange {
  readonly first: CellPosition;
  readonly last: CellPosition;
}

/** The range of a reference such as `A2:B4`; undefined if it isn't one. */
export function mergedRangeOf(reference: string): MergedRange | undefined {
  const [first, last] = reference.split(":").map(positionOf);
  return first && last && { first, last };
}

/**
 * Copies the text of each merged cell to all its rows. Rows without any text stay empty, for example below a header of
 * two rows. So do the other columns of a wide cell: a title above the header doesn't name each column.
 * @returns also the merged cells that have a text
 */
export function withMergedValues(rows: string[][], ranges: readonly MergedRange[]) {
  const textAt = ({ row, column }: CellPosition): string => rows[row - 1]?.[column - 1] ?? "";
  const merged = ranges.filter(({ first }) => textAt(first) !== "");
  const own = rows.map(({ length }) => length > 0);
  // Skips the overlap of merged cells, which would take long.
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
