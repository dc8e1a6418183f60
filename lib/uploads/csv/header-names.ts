import { InvalidFileError } from "./invalid-file-error.ts";

/** By it, spreadsheets recognize UTF-8. Before a first header in quotes it would hide the opening quote. */
export const BYTE_ORDER_MARK = "\uFEFF";

/** Columns that the report of failed rows adds to the file's own. Uploads ignore them, so that they accept a report. */
export const REPORT_COLUMNS = ["_row", "_error", "_error_column", "_error_value", "_error_code"] as const;

/** A text for comparing headers, aliases and empty cells: without case, outer spaces and byte order mark. */
export function comparable(text: string): string {
  return text.trim().toLowerCase();
}

const REPORT_NAMES: ReadonlySet<string> = new Set(REPORT_COLUMNS);
/** Whether a header is one of `REPORT_COLUMNS`. */
export function isReportColumn(header: string): boolean {
  return REPORT_NAMES.has(comparable(header));
}

/**
 * The names of columns in mappings, without outer spaces. If a header occurs twice, the second is `Amount (2)`, unless another
 * column has that name.
 */
export function numberedNames(names: readonly string[]): string[] {
  const given = new Set(names.map(comparable));
  const counts = new Map<string, number>();
  return names.map((header) => {
    const name = header.trim();
    const key = comparable(header);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    const numbered = `${name} (${count})`;
    return count === 1 || name === "" || isReportColumn(name) || given.has(comparable(numbered)) ? name : numbered;
  });
}

/** The index of a column by its name in mappings; -1 if there is none. @param names cells of the header */
export function columnIndex(names: readonly string[], column: string): number {
  return numberedNames(names).findIndex((name) => comparable(name) === comparable(column));
}

/** @throws InvalidFileError that names the header's row */
export function refuseHeader(problem: string, row = 1): never {
  throw new InvalidFileError(`row ${row}: ${problem}`);
}

/** The error of a file whose rows end as on an old Macintosh. */
export const CARRIAGE_RETURNS = "rows must end with LF or CRLF, not CR";

/** Limit of the header's size. It is stored in the job's record, which every request for the job reads. */
export const HEADER_MAX_BYTES = 64 * 1024;
/** The error of a larger header. */
export const HEADER_TOO_LONG = `must be at most ${HEADER_MAX_BYTES} bytes`;

/** The error of a file whose header is empty or missing. */
export const NO_HEADER = "there is no header; add the column names in this row or set header_row in the mapping";

/** Checks that the cells of a row can be a header. @param row its number @throws InvalidFileError */
export function assertHeader(names: readonly string[], row = 1): void {
  if (names.every((name) => name.trim() === "")) refuseHeader(NO_HEADER, row);
  if (names.some((name) => /\r(?!\n)/.test(name))) refuseHeader(CARRIAGE_RETURNS, row);
  if (/^sep=.?$/i.test(names[0]?.trim() ?? "")) {
    refuseHeader("this line sets the delimiter for Excel; delete it, so that the header is row 1", row);
  }
}
