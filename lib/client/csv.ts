import type { ProblemCode } from "./api.ts";

/** A value of a row: quoted, or up to the next separator. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;

/** Rows of a CSV text as the service writes it (RFC 4180). */
const rowsIn = function* (text: string): Generator<string[], void, undefined> {
  CELL.lastIndex = 0;
  let row: string[] = [];
  let at = text.startsWith("\u{feff}") ? 1 : 0;
  while (at < text.length) {
    CELL.lastIndex = at;
    const match = CELL.exec(text);
    if (match === null) throw new Error("the CSV file cannot be read");
    const [whole, quoted, plain = "", end] = match;
    row.push(quoted?.replaceAll('""', '"') ?? plain);
    at += whole.length;
    if (end === ",") continue;
    yield row;
    row = [];
  }
};

/** A row of a file that could not be applied. */
export interface FailedRow {
  /** As spreadsheets count: the header is row 1. */
  readonly row: number;
  readonly error: string;
  /** What is wrong, for programs. */
  readonly code: ProblemCode;
  /** The row's cells by the names of their columns. */
  readonly cells: Readonly<Record<string, string>>;
}

/** The rows of a report of failed rows. */
export const failedRowsIn = function* (report: string): Generator<FailedRow, void, undefined> {
  let header: string[] | undefined;
  for (const row of rowsIn(report)) {
    if (header === undefined) {
      header = row;
      continue;
    }
    const {
      _row: number,
      _error: error = "",
      _error_code: code = "",
      ...cells
    } = Object.fromEntries(header.map((name, at) => [name, row[at] ?? ""]));
    yield { row: Number(number), error, code, cells };
  }
};
