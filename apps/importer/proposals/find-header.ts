import { HEADER_ROW_MAX } from "../../../lib/uploads/mapping/mapping.ts";

/** Below a header that is found there are rows which show how wide the table is. */
const SAMPLE_ROWS = 200;
/** Titles take fewer rows than this. */
const SEARCHED_ROWS = 30;

function countFilled(cells: readonly string[]): number {
  return cells.filter((cell) => cell.trim() !== "").length;
}

/** Cells that are values, not names of columns: numbers, dates, email addresses. */
function isValue(cell: string): boolean {
  return /^[\d\s.,:/+-]*\d[\d\s.,:/+-]*$|^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(cell.trim());
}

/** The number of cells that most rows have; the largest of such numbers. */
function widthOf(rows: readonly (readonly string[])[]): number {
  const filled = rows.filter((cells) => countFilled(cells) > 0);
  const counts = Map.groupBy(filled, (cells) => cells.length);
  const widths = [...counts].map(([width, { length }]) => ({ width, length }));
  const [first] = widths.toSorted((a, b) => b.length - a.length || b.width - a.width);
  return first?.width ?? 0;
}

/**
 * Whether a row is the lower one of a header with two: it repeats a name of the upper one, where a merged cell has both
 * rows, and has names where a heading over several columns leaves the upper one empty.
 */
function isLowerHeader(cells: readonly string[], upper: readonly string[]): boolean {
  const filled = [...cells.keys()].filter((index) => cells[index]!.trim() !== "");
  const isRepeated = filled.some((index) => cells[index] === upper[index]);
  return isRepeated && filled.length > countFilled(upper) && !cells.some(isValue);
}

/**
 * The number of the row that holds the header: titles, blank lines and the merged cells of a heading over several columns
 * may be above it. They fill few of the cells that the rows of the table have.
 * @param rows the first rows of a file, with the blank ones
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
