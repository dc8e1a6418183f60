import { isUtf8 } from "node:buffer";
import { CsvError, parse } from "csv-parse";
import { InvalidInputError } from "../errors.ts";

/** The file as a whole cannot be read; nothing of it is applied. */
export class InvalidFileError extends InvalidInputError {}

/** An item's largest custom attributes fit, with every quote in them doubled. */
export const RECORD_MAX_CHARACTERS = 1024 * 1024;

/** One row of the file. Valid until the next batch is asked for: `raw` is a view of a buffer that is used again. */
export interface CsvRecord {
  /** As a spreadsheet numbers rows: the header is 1, blank lines count. */
  readonly row: number;
  /** The bytes as they are in the file, line end included. */
  readonly raw: Buffer;
  /** Unquoted. */
  readonly cells: readonly string[];
}

/** A place between two rows. */
export interface CsvPosition {
  /** Bytes of the file before it. */
  readonly offset: number;
  /** Rows before it, the header and blank lines included. */
  readonly row: number;
}

export interface CsvBatch {
  readonly records: readonly CsvRecord[];
  /** After the last of `records`. */
  readonly position: CsvPosition;
}

const START: CsvPosition = { offset: 0, row: 0 };
const NUL_BYTE = 0;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

const PROBLEMS: Partial<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: "a quote is opened and never closed",
  CSV_INVALID_CLOSING_QUOTE: "after a closing quote there must be a comma or the end of the row",
  INVALID_OPENING_QUOTE: "a quote stands inside a cell that does not begin with one",
  CSV_MAX_RECORD_SIZE: `the row is longer than ${RECORD_MAX_CHARACTERS} characters; perhaps a quote is not closed`,
};

const problemIn = (row: number, error: unknown): Error => {
  const problem = error instanceof CsvError ? PROBLEMS[error.code] : undefined;
  if (problem !== undefined) return new InvalidFileError(`row ${row}: ${problem}`);
  return error instanceof Error ? error : new Error("the CSV parser failed", { cause: error });
};

const assertUtf8 = ({ row, raw }: CsvRecord): void => {
  if (isUtf8(raw)) return;
  const utf16 = row === 1 && ((raw[0] === 0xff && raw[1] === 0xfe) || (raw[0] === 0xfe && raw[1] === 0xff));
  throw new InvalidFileError(`row ${row}: the file must be UTF-8${utf16 ? ", not UTF-16" : ""}`);
};

/** A line without a single character; `""` alone is a row with one empty cell. */
const isBlank = ({ raw }: CsvRecord): boolean =>
  raw[0] === LINE_FEED || (raw[0] === CARRIAGE_RETURN && raw[1] === LINE_FEED);

/**
 * Reads CSV (RFC 4180, comma, UTF-8, LF or CRLF) strictly and in flat memory, whatever the chunks of the source are.
 * Ragged rows are given as they are. Blank lines are left out; row 1 never is.
 * @param start where an earlier run stopped: the source begins at its offset
 * @throws InvalidFileError naming the row, where the file as a whole cannot be read
 */
export async function* readCsv(source: AsyncIterable<Uint8Array>, start = START): AsyncGenerator<CsvBatch> {
  const found: { readonly cells: string[]; readonly end: number }[] = [];
  const parser = parse({
    bom: start.offset === 0,
    record_delimiter: ["\r\n", "\n"],
    relax_column_count: true,
    max_record_size: RECORD_MAX_CHARACTERS,
    on_record: (cells, { bytes }) => {
      found.push({ cells, end: start.offset + bytes });
      return null;
    },
  });
  parser.on("error", () => undefined); // each error reaches the callback below
  let { offset, row } = start;
  let unread: Buffer = Buffer.alloc(0);

  const feed = (chunk: Uint8Array | null): Promise<void> =>
    new Promise((resolve, reject) => {
      const done = (error?: Error | null): void =>
        error ? reject(problemIn(row + found.length + 1, error)) : resolve();
      if (chunk === null) parser.end(done);
      else parser.write(chunk, done);
    });
  const take = (): CsvBatch => {
    const records: CsvRecord[] = [];
    for (const { cells, end } of found) {
      row++;
      const record = { row, raw: unread.subarray(0, end - offset), cells };
      unread = unread.subarray(end - offset);
      offset = end;
      assertUtf8(record);
      if (row === 1 || !isBlank(record)) records.push(record);
    }
    found.length = 0;
    return { records, position: { offset, row } };
  };

  for await (const chunk of source) {
    if (chunk.includes(NUL_BYTE)) throw new InvalidFileError("the file holds a NUL byte; it must be UTF-8 text");
    await feed(chunk);
    unread = Buffer.concat([unread, chunk]);
    if (found.length > 0) yield take();
  }
  await feed(null);
  if (found.length > 0) yield take();
}
