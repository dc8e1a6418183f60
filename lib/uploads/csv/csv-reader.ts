import { isUtf8 } from "node:buffer";
import { CsvError, parse } from "csv-parse";
import { QUOTE_PROBLEMS, rawCells, ROW_MAX_CHARACTERS } from "./csv-row.ts";
import { COMMA, type Delimiter } from "./delimiter.ts";
import { assertCsv, HEAD_BYTES, NUL_BYTE, problemOfText } from "./file-kind.ts";
import { CARRIAGE_RETURNS } from "./header-names.ts";
import { InvalidFileError } from "./invalid-file-error.ts";

/** One row of the file. Valid until the next batch is read: `raw` is a view of a buffer that is reused. */
export interface CsvRecord {
  /** Number of the row as in a spreadsheet: the header is 1, blank lines count. */
  readonly row: number;
  /** The bytes in the file, including the line end. */
  readonly raw: Buffer;
  /** Returns the unquoted cells. @param atMost how many of the first are needed. @default all */
  readonly cells: (atMost?: number) => readonly string[];
}

/** A position between two rows. */
export interface CsvPosition {
  /** Number of bytes before it. */
  readonly offset: number;
  /** Number of rows before it, including the header and blank lines. */
  readonly row: number;
}

/** Consecutive rows of the file. */
export interface CsvBatch {
  readonly records: readonly CsvRecord[];
  /** Position after the last record. */
  readonly position: CsvPosition;
}

const START: CsvPosition = { offset: 0, row: 0 };
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;

const PROBLEMS: Partial<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: QUOTE_PROBLEMS.isOpen,
  CSV_INVALID_CLOSING_QUOTE: QUOTE_PROBLEMS.isFollowed,
  INVALID_OPENING_QUOTE: QUOTE_PROBLEMS.isInside,
  CSV_MAX_RECORD_SIZE: `the row is longer than ${ROW_MAX_CHARACTERS} characters; perhaps a quote is not closed`,
};

const problemIn = (row: number, error: unknown): Error => {
  const problem = error instanceof CsvError ? PROBLEMS[error.code] : undefined;
  if (problem !== undefined) return new InvalidFileError(`row ${row}: ${problem}`);
  return error instanceof Error ? error : new Error("the CSV parser failed", { cause: error });
};

const assertUtf8 = ({ row, raw }: Pick<CsvRecord, "row" | "raw">): void => {
  if (!isUtf8(raw)) throw new InvalidFileError(`row ${row}: ${problemOfText(raw)}`);
};

/** Whether a line is empty. A line with only `""` is a row with one empty cell. */
const isBlank = (raw: Buffer): boolean => raw[0] === LINE_FEED || (raw[0] === CARRIAGE_RETURN && raw[1] === LINE_FEED);

const cellsOf = (line: Buffer, isFirst: boolean, delimiter: Delimiter, atMost?: number): string[] =>
  rawCells(isFirst ? line.toString().replace(/^\uFEFF/, "") : line.toString(), delimiter, atMost);

interface FoundRow {
  /** Number of bytes in the file up to the row's end. */
  readonly end: number;
  /** Unquoted cells, if the row was parsed already. */
  readonly cells?: readonly string[];
}

/**
 * The complete lines in `bytes`, which begin at `offset`. An incomplete last line counts only at the end of the file.
 * @returns null if a line is too long, or if there is a quote, since a quoted cell may contain line ends
 */
const findLines = (bytes: Buffer, offset: number, isEnd: boolean): FoundRow[] | null => {
  if (bytes.includes(QUOTE)) return null;
  const found: FoundRow[] = [];
  let start = 0;
  while (start < bytes.length) {
    const lineFeed = bytes.indexOf(LINE_FEED, start);
    const end = lineFeed === -1 ? bytes.length : lineFeed + 1;
    if (end - start > ROW_MAX_CHARACTERS) return null;
    if (lineFeed === -1 && !isEnd) break;
    found.push({ end: offset + end });
    start = end;
  }
  return found;
};

/** Makes a parser for the file from a position between two rows on. */
const createQuoteParser = ({ offset, row }: CsvPosition, delimiter: Delimiter) => {
  let found: FoundRow[] = [];
  let rows = row;
  const parser = parse({
    bom: offset === 0,
    delimiter,
    record_delimiter: ["\r\n", "\n"],
    relax_column_count: true,
    max_record_size: ROW_MAX_CHARACTERS,
    on_record: (cells, { bytes }) => {
      found.push({ cells, end: offset + bytes });
      rows++;
      return null;
    },
  });
  parser.on("error", () => undefined); // the callback below gets each error too
  let problem: Error | undefined;
  const check = (): void => {
    if (problem) throw problem;
  };
  const parseChunk = async (chunk: Uint8Array | null): Promise<FoundRow[]> => {
    check();
    await new Promise<void>((resolve) => {
      const done = (error?: Error | null): void => {
        if (error) problem = problemIn(rows + 1, error);
        resolve();
      };
      if (chunk === null) parser.end(done);
      else parser.write(chunk, done);
    });
    const complete = found;
    found = [];
    // The rows before the problem come first: the header may tell more of what is wrong.
    if (complete.length === 0) check();
    return complete;
  };
  return {
    /** Parses a chunk and returns the complete rows. @param chunk null at the end of the file */
    parse: parseChunk,
    /** Throws what was found after the rows that were returned last. */
    check,
  };
};

/** How a file is read. */
export interface CsvOptions {
  /** Position at which an earlier run stopped; the source begins at its offset. @default the start of the file */
  readonly start?: CsvPosition;
  /** @default comma */
  readonly delimiter?: Delimiter;
}

/**
 * Reads CSV (RFC 4180, UTF-8, LF or CRLF) strictly and in constant memory. Rows may have any number of cells. Blank
 * lines are skipped, except row 1. Up to the first quote every line is a row: the slow parser is not needed.
 * @throws InvalidFileError naming the row, if the file cannot be read
 */
export async function* readCsv(
  source: AsyncIterable<Uint8Array>,
  { start = START, delimiter = COMMA }: CsvOptions = {},
): AsyncGenerator<CsvBatch> {
  let position = start;
  let unread: Buffer = Buffer.alloc(0);
  let quotes: ReturnType<typeof createQuoteParser> | undefined;

  const findRows = async (chunk: Uint8Array | null): Promise<FoundRow[]> => {
    if (quotes) return quotes.parse(chunk);
    const lines = findLines(unread, position.offset, chunk === null);
    if (lines) return lines;
    quotes = createQuoteParser(position, delimiter);
    const rows = await quotes.parse(unread);
    return chunk === null ? [...rows, ...(await quotes.parse(null))] : rows;
  };
  const find = async (chunk: Uint8Array | null): Promise<FoundRow[]> => {
    try {
      return await findRows(chunk);
    } catch (error) {
      const hasNoLines = position.row === 0 && unread.includes(CARRIAGE_RETURN) && !unread.includes(LINE_FEED);
      throw hasNoLines ? new InvalidFileError(`row 1: ${CARRIAGE_RETURNS}`) : error;
    }
  };
  const take = (found: readonly FoundRow[]): CsvBatch => {
    const { offset } = position;
    const records: CsvRecord[] = [];
    let { row } = position;
    let from = 0;
    for (const { end, cells } of found) {
      row++;
      const raw = unread.subarray(from, end - offset);
      from = end - offset;
      if (row !== 1 && isBlank(raw)) continue;
      const isFirst = row === 1;
      records.push({ row, raw, cells: (atMost) => cells ?? cellsOf(raw, isFirst, delimiter, atMost) });
    }
    if (!isUtf8(unread.subarray(0, from))) records.forEach(assertUtf8);
    unread = unread.subarray(from);
    position = { offset: offset + from, row };
    return { records, position };
  };

  for await (const chunk of source) {
    if (position.offset === 0) assertCsv(unread.length < HEAD_BYTES ? Buffer.concat([unread, chunk]) : unread);
    if (chunk.includes(0)) throw new InvalidFileError(NUL_BYTE);
    unread = Buffer.concat([unread, chunk]);
    const found = await find(chunk);
    if (found.length > 0) yield take(found);
  }
  const last = await find(null);
  if (last.length > 0) yield take(last);
  quotes?.check();
}
