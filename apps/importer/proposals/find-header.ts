import { HEADER_ROW_MAX } from "@work-items/lib/uploads/mapping/mapping.ts";

/** Rows that show how wide the table is. */
const SAMPLE_ROWS = 200;
/** Rows in which the header is searched. */
const SEARCHED_ROWS = 30;

function countFilled(cells: readonly string[]): number {
  return cells.filter((cell) => cell.trim() !== "").length;
}

/** Whether a cell is a value, not the name of a column: a number, a date or an email address. */
function isValue(cell: string): boolean {
  return /^[\d\s.,:/+-]*\d[\d\s.,:/+-]*$|^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(cell.trim());
}

/** The most frequent number of cells in a row; of several, the largest. */
function widthOf(rows: readonly (readonly string[])[]): number {
  const filled = rows.filter((cells) => countFilled(cells) > 0);
  const counts = Map.groupBy(filled, (cells) => cells.length);
  const widths = [...counts].map(([width, { length }]) => ({ width, length }));
  const [first] = widths.toSorted((a, b) => b.length - a.length || b.width - a.width);
  return first?.width ?? 0;
}

/**
 * Whether a row is the second row of a header: it repeats a name of the first, which a merged cell spans, and has names
 * where a heading over several columns leaves cells of the first empty.
 */
function isLowerHeader(cells: readonly string[], upper: readonly string[]): boolean {
  const filled = [...cells.keys()].filter((index) => cells[index]!.trim() !== "");
  const isRepeated = filled.some((index) => cells[index] === upper[index]);
  return isRepeated && filled.length > countFilled(upper) && !cells.some(isValue);
}

/**
 * The number of the header's row. Above it may be titles, blank lines and headings over several columns, which fill few
 * of the table's columns.
 * @param rows the first rows of a file, including blank ones
 */
export function findHeaderRow(rows: readonly (readonly string[])[]): number {
  const sample = rows.slice(0, SAMPLE_ROWS);
  const width = widthOf(sample);
  const isHeader = (cells: readonly string[]): boolean => countFilled(cells) > width / 2;
  const found = sample.slice(0, Math.min(SEARCHED_ROWS, HEADER_ROW_MAX)).findIndex(isHeader);
  const isTable = found > 0 && !sample[found]!.some(isValue);
  const header = isTable ? found : 0;
  const isLower = isLowerHeader(sample[header + 1] ?? [], sample[header] ?? []);
  return isLower ? header + 2 : header + 1;
}
