import { cellsOf, RecordCut } from "../../lib/uploads/csv/csv-text.ts";
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
  /** The column with the problem, as the file names it; empty if it isn't one. */
  readonly column: string;
  /** What that column has in the row. */
  readonly value: string;
  /** The row's cells by column: a second `Amount` is `Amount (2)`, as in mappings. */
  readonly cells: Readonly<Record<string, string>>;
}

/** The delimiter of a list. A report has that of its file, and it is found between the columns that all reports have. */
function delimiterOf(header: string): Delimiter {
  return (/_row(.)_error\1_error_column/.exec(header)?.[1] ?? COMMA) as Delimiter;
}

/** What a job did with a row. */
export interface ResultRow {
  /** As spreadsheets count: the header is row 1. */
  readonly row: number;
  readonly external_id: string;
  /** Empty if the row failed. */
  readonly id: string;
  /** Such as `created`, or `error`. */
  readonly outcome: string;
  /** The list's further columns, by their names. */
  readonly [column: string]: string | number;
}

/** Cuts a list into records, without blank lines: a report begins with one for each line above its file's header. */
async function* recordsIn(pieces: AsyncIterable<string>): AsyncGenerator<readonly string[], void, undefined> {
  const cut = new RecordCut();
  const isFilled = (record: string): boolean => record.trim() !== "";
  for await (const piece of pieces) yield cut.next(piece).filter(isFilled);
  yield [cut.take()].filter(isFilled);
}

/** The rows of a list. @param rowOf makes a row of the names of the columns and its cells */
async function* rowsIn<T>(
  pieces: AsyncIterable<string>,
  rowOf: (names: readonly string[], cells: readonly string[]) => T,
): AsyncGenerator<T, void, undefined> {
  let names: string[] | undefined;
  let delimiter: Delimiter = COMMA;
  // Many at a time, because a list may have a million.
  for await (const records of recordsIn(pieces)) {
    for (const record of records) {
      if (names === undefined) {
        delimiter = delimiterOf(record);
        names = numberedNames(cellsOf(record, delimiter));
      } else yield rowOf(names, cellsOf(record, delimiter));
    }
  }
}

/** @param pieces of the text of a report of failed rows, without a byte order mark */
export function failedRowsIn(pieces: AsyncIterable<string>): AsyncGenerator<FailedRow, void, undefined> {
  return rowsIn(pieces, (names, values) => {
    // Unlike an assignment, it takes any name.
    const row = Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""]));
    const { _row, _error: error = "", _error_code: code, _error_column: column = "", ...others } = row;
    const { _error_value: value = "", ...cells } = others;
    return { row: Number(_row), error, code: code as ProblemCode, column, value, cells };
  });
}

/** @param pieces of the text of a list of results, without a byte order mark */
export function resultsIn(pieces: AsyncIterable<string>): AsyncGenerator<ResultRow, void, undefined> {
  return rowsIn(pieces, (names, values) => {
    const cells: Record<string, string> = {};
    for (const [index, name] of names.entries()) cells[name] = values[index] ?? "";
    const { _row: row, external_id = "", id = "", outcome = "", ...others } = cells;
    return { row: Number(row), external_id, id, outcome, ...others };
  });
}
