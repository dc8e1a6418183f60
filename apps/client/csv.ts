import { cellsOf, recordsIn } from "../../lib/uploads/csv/csv-text.ts";
import { COMMA, type Delimiter } from "../../lib/uploads/csv/delimiter.ts";
import { numberedNames } from "../../lib/uploads/csv/header-names.ts";
import type { ProblemCode } from "./openapi-types.ts";

/** A row of a file that failed. */
export interface FailedRow {
  /** As spreadsheets count: the header is row 1. */
  readonly row: number;
  readonly error: string;
  /** The problem, for programs. */
  readonly code: ProblemCode;
  /** The row's cells by column: a second `Amount` is `Amount (2)`, as in mappings. */
  readonly cells: Readonly<Record<string, string>>;
}

/** The delimiter of a report, found between the columns that all reports have. It is its file's. */
function delimiterOf(report: string): Delimiter {
  return (/_row(.)_error\1_error_column/.exec(report)?.[1] ?? COMMA) as Delimiter;
}

export function* failedRowsIn(report: string): Generator<FailedRow, void, undefined> {
  const delimiter = delimiterOf(report);
  let header: string[] | undefined;
  for (const record of recordsIn(report.replace(/^\uFEFF/, ""))) {
    // A report begins with a blank line for each line above its file's header.
    if (record.trim() === "") continue;
    const row = cellsOf(record, delimiter);
    if (header === undefined) {
      header = numberedNames(row);
      continue;
    }
    const {
      _row: number,
      _error: error = "",
      _error_code: code = "",
      ...cells
    } = Object.fromEntries(header.map((name, index) => [name, row[index] ?? ""]));
    yield { row: Number(number), error, code: code as ProblemCode, cells };
  }
}
