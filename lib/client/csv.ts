import { cellsOf, recordsIn } from "../uploads/csv/csv-text.ts";
import type { ProblemCode } from "./api.ts";

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
export function* failedRowsIn(report: string): Generator<FailedRow, void, undefined> {
  let header: string[] | undefined;
  for (const record of recordsIn(report.replace(/^\uFEFF/, ""))) {
    // There are blank lines where the file had lines above its header.
    if (record.trim() === "") continue;
    const row = cellsOf(record, ",");
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
}
