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

/** The cells of a list's records, without blank lines: a report begins with one for each line above its file's header. */
async function* recordsIn(pieces: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  const cut = new RecordCut();
  for await (const piece of pieces) yield* cut.next(piece).filter((record) => record.trim() !== "");
  const last = cut.take();
  if (last.trim() !== "") yield last;
}

/** The rows of a list. @param rowOf makes a row of its cells by the names of their columns */
async function* rowsIn<T>(
  pieces: AsyncIterable<string>,
  rowOf: (cells: Readonly<Record<string, string>>) => T,
): AsyncGenerator<T, void, undefined> {
  let names: string[] | undefined;
  let delimiter: Delimiter = COMMA;
  for await (const record of recordsIn(pieces)) {
    if (names === undefined) {
      delimiter = delimiterOf(record);
      names = numberedNames(cellsOf(record, delimiter));
      continue;
    }
    const cells = cellsOf(record, delimiter);
    yield rowOf(Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ""])));
  }
}

/** @param pieces of the text of a report of failed rows, without a byte order mark */
export function failedRowsIn(pieces: AsyncIterable<string>): AsyncGenerator<FailedRow, void, undefined> {
  return rowsIn(pieces, ({ _row: row, _error: error = "", _error_code: code = "", ...cells }) => ({
    row: Number(row),
    error,
    code: code as ProblemCode,
    cells,
  }));
}

/** @param pieces of the text of a list of results, without a byte order mark */
export function resultsIn(pieces: AsyncIterable<string>): AsyncGenerator<ResultRow, void, undefined> {
  return rowsIn(pieces, ({ _row: row, external_id = "", id = "", outcome = "", ...others }) => ({
    row: Number(row),
    external_id,
    id,
    outcome,
    ...others,
  }));
}
