import { Readable } from "node:stream";
import { type Columns, HEADER_MAX_BYTES, parseHeader } from "./csv-columns.ts";
import { type CsvRecord, InvalidFileError, readCsv } from "./csv-reader.ts";
import { cellValue, rawCells } from "./csv-row.ts";

/** The columns of a header. @param header row 1 of the file, including its byte order mark */
export const columnsOfHeader = (header: string): Columns =>
  parseHeader(rawCells(header.replace(/^\uFEFF/, "")).map(cellValue));

/** Reads the header from row 1. @throws InvalidFileError */
export const readHeader = ({ raw, cells }: CsvRecord): { readonly header: string; readonly columns: Columns } => {
  if (raw.length > HEADER_MAX_BYTES) throw new InvalidFileError(`row 1: must be at most ${HEADER_MAX_BYTES} bytes`);
  return { header: raw.toString(), columns: parseHeader(cells()) };
};

/**
 * Checks a whole file as the splitter does.
 * @throws InvalidFileError if the job would fail
 */
export const assertReadable = async (file: Buffer): Promise<void> => {
  let isEmpty = true;
  for await (const { records } of readCsv(Readable.from([file]))) {
    for (const record of records) if (record.row === 1) readHeader(record);
    isEmpty = false;
  }
  if (isEmpty) throw new InvalidFileError("the file is empty");
};
