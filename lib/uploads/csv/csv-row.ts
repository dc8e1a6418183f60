import type { Delimiter } from "./delimiter.ts";

/** Limit of a row. The largest custom attributes of an item fit, even if all their characters are doubled quotes. */
export const ROW_MAX_CHARACTERS = 1024 * 1024;

/** What can be wrong with the quotes of a row. */
export const QUOTE_PROBLEMS = {
  isOpen: "a quote is opened and never closed; close it, or double it if it belongs to the text",
  isFollowed: "after a closing quote there must be the delimiter or the end of the row; double the quotes of a cell",
  isInside: "a quote stands inside a cell that does not begin with one; put the cell in quotes and double its own",
} as const;

/**
 * The cells of a row that `readCsv` accepted, including their quotes.
 * @param row with or without its line end
 * @param atMost how many of the first cells are needed. @default all
 */
export const rawCells = (row: string, delimiter: Delimiter, atMost?: number): string[] => {
  const text = row.endsWith("\r\n") ? row.slice(0, -2) : row.endsWith("\n") ? row.slice(0, -1) : row;
  if (!text.includes('"')) return text.split(delimiter, atMost);
  const cells: string[] = [];
  let start = 0;
  while (start <= text.length && cells.length !== atMost) {
    let from = start;
    if (text[start] === '"') {
      from = text.indexOf('"', start + 1) + 1;
      while (text[from] === '"') from = text.indexOf('"', from + 1) + 1;
    }
    const next = text.indexOf(delimiter, from);
    const end = next === -1 ? text.length : next;
    cells.push(text.slice(start, end));
    start = end + 1;
  }
  return cells;
};

/** The value of a cell, without quotes. */
export const cellValue = (cell: string): string =>
  cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;

/** A cell with a value, quoted if necessary. */
export const toCell = (value: string, delimiter: Delimiter): string =>
  /["\r\n]/.test(value) || value.includes(delimiter) ? `"${value.replaceAll('"', '""')}"` : value;

/** The line end of a row. */
export const lineEnd = (row: string): "\r\n" | "\n" => (row.endsWith("\r\n") ? "\r\n" : "\n");
