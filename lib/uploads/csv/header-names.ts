import { InvalidFileError } from "./invalid-file-error.ts";

/** Columns that the report of failed rows adds to the file's own. Uploads ignore them, so that they accept a report. */
export const REPORT_COLUMNS = ["_row", "_error", "_error_column", "_error_value", "_error_code"] as const;

/** A text as headers, aliases and empty cells are compared: without case, outer spaces and byte order mark. */
export function comparable(text: string): string {
  return text.trim().toLowerCase();
}

const REPORT_NAMES: ReadonlySet<string> = new Set(REPORT_COLUMNS);
/** Whether a header is that of a column which a report of failed rows adds. */
export function isReportColumn(header: string): boolean {
  return REPORT_NAMES.has(comparable(header));
}

/** A header in messages. */
export function shownHeader(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}

/** @throws InvalidFileError that names the header's row */
export function refuseHeader(problem: string): never {
  throw new InvalidFileError(`row 1: ${problem}`);
}

/** What is wrong with a file whose rows end as on an old Macintosh. */
export const CARRIAGE_RETURNS = "rows must end with LF or CRLF, not CR";

/** Limit of the header's size. It is stored in the job's record, which every request for the job reads. */
export const HEADER_MAX_BYTES = 64 * 1024;
/** What is wrong with a header that is larger. */
export const HEADER_TOO_LONG = `must be at most ${HEADER_MAX_BYTES} bytes`;

/** Checks that the cells of row 1 can be a header. @throws InvalidFileError */
export function assertHeader(names: readonly string[]): void {
  if (names.every((name) => name.trim() === "")) refuseHeader("must be the header");
  if (names.some((name) => /\r(?!\n)/.test(name))) refuseHeader(CARRIAGE_RETURNS);
  if (/^sep=.?$/i.test(names[0]?.trim() ?? "")) {
    refuseHeader("this line tells Excel the delimiter; delete it, so that the header is row 1");
  }
}
