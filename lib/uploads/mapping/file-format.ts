import { InvalidInputError, describeProblems } from "../../errors.ts";
import { problemsOfMapping } from "./check-mapping.ts";
import { assertColumns, mappedReader } from "./mapped-columns.ts";
import { type Mapping, mappingPath } from "./mapping.ts";
import { columnReader, targetsOfColumns } from "../csv/csv-columns.ts";
import { type CsvRecord, readCsv } from "../csv/csv-reader.ts";
import { cellsOf } from "../csv/csv-text.ts";
import { COMMA, type Delimiter } from "../csv/delimiter.ts";
import { assertHeader, HEADER_MAX_BYTES, HEADER_TOO_LONG, NO_HEADER, refuseHeader } from "../csv/header-names.ts";
import { InvalidFileError } from "../csv/invalid-file-error.ts";
import type { RowReader } from "../csv/row-reader.ts";

/** How the rows of one file are read. */
export interface CsvFormat {
  /** The header's row, including the byte order mark of a file that begins with it. */
  readonly header: string;
  readonly delimiter: Delimiter;
  readonly reader: RowReader;
}

/** The delimiter of files with a mapping, or without one. */
export function delimiterOf(mapping: Mapping | undefined): Delimiter {
  return mapping?.delimiter ?? COMMA;
}

/** Number of the header's row in files with a mapping, or without one. */
export function headerRowOf(mapping: Mapping | undefined): number {
  return mapping?.header_row ?? 1;
}

/** Whether a row that is not blank is the header. @throws InvalidFileError if the header's row was blank */
export function isHeader({ row }: Pick<CsvRecord, "row">, mapping: Mapping | undefined): boolean {
  const headerRow = headerRowOf(mapping);
  if (row > headerRow) refuseHeader(NO_HEADER, headerRow);
  return row === headerRow;
}

/** What is wrong with a file that has no header. @param rows how many it has */
export function withoutHeader(rows: number, mapping: Mapping | undefined): InvalidFileError {
  return new InvalidFileError(rows === 0 ? "the file is empty" : `row ${headerRowOf(mapping)}: ${NO_HEADER}`);
}

/** The reader of a file's rows. @param names cells of its header @throws InvalidFileError */
export function readerOf(names: readonly string[], mapping: Mapping | undefined): RowReader {
  assertHeader(names, headerRowOf(mapping));
  return mapping === undefined ? columnReader(names) : mappedReader(mapping, names);
}

/** The format of a file by its header, which was read before. @param header including its byte order mark */
export function formatOf(header: string, mapping: Mapping | undefined): CsvFormat {
  const delimiter = delimiterOf(mapping);
  const names = cellsOf(header.replace(/^\uFEFF/, ""), delimiter);
  return { header, delimiter, reader: readerOf(names, mapping) };
}

function headerOf({ raw, row }: CsvRecord): string {
  if (raw.length > HEADER_MAX_BYTES) refuseHeader(HEADER_TOO_LONG, row);
  return raw.toString();
}

/** The format of a file by its first row. @throws InvalidFileError */
export function readHeader(record: CsvRecord, mapping: Mapping | undefined): CsvFormat {
  return {
    header: headerOf(record),
    delimiter: delimiterOf(mapping),
    reader: readerOf(record.cells(), mapping),
  };
}

/** Checks what `readHeader` checks, without a reader, so that the function that receives files needs no reader's code. */
function checkHeader(record: CsvRecord, mapping: Mapping | undefined): void {
  headerOf(record);
  const names = record.cells();
  assertHeader(names, record.row);
  if (mapping === undefined) targetsOfColumns(names);
  else assertColumns(mapping, names);
}

/** Only the rows of a few pieces are in memory at the same time. */
const PIECE_BYTES = 64 * 1024;

async function* piecesOf(file: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < file.length; start += PIECE_BYTES) yield file.subarray(start, start + PIECE_BYTES);
}

/** Reads a whole file as the splitter does. @param onHeader called with its header @throws InvalidFileError */
async function readWhole(
  file: Buffer,
  mapping: Mapping | undefined,
  onHeader: (record: CsvRecord) => void,
): Promise<void> {
  let rows = 0;
  let hasHeader = false;
  for await (const { records, row } of readCsv(piecesOf(file), { delimiter: delimiterOf(mapping) })) {
    for (const record of records) {
      if (hasHeader || !isHeader(record, mapping)) continue;
      onHeader(record);
      hasHeader = true;
    }
    rows = row;
  }
  if (!hasHeader) throw withoutHeader(rows, mapping);
}

/** Checks a mapping without its file. @throws InvalidInputError naming everything that is wrong with it */
export function assertMapping(mapping: Mapping): void {
  const problems = problemsOfMapping(mapping);
  if (problems.length > 0) throw new InvalidInputError(problems.map(mappingPath));
}

/**
 * Checks a whole file and its mapping.
 * @throws InvalidInputError naming everything that is wrong with the mapping, or InvalidFileError if the job would fail
 */
export async function assertReadable(file: Buffer, mapping: Mapping | undefined): Promise<void> {
  const problems = mapping === undefined ? [] : problemsOfMapping(mapping);
  if (mapping === undefined || problems.length === 0) {
    return readWhole(file, mapping, (record) => checkHeader(record, mapping));
  }
  const own = problems.map(mappingPath);
  try {
    await readWhole(file, mapping, (record) => {
      assertHeader(record.cells(), record.row);
      assertColumns(mapping, record.cells());
    });
  } catch (error) {
    if (!(error instanceof InvalidFileError)) throw error;
    throw new InvalidInputError([...own, ...error.problems], `${describeProblems(own)}; ${error.message}`);
  }
  throw new InvalidInputError(own);
}
