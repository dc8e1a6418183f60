import { isUtf8 } from "node:buffer";
import { cellsOf, QUOTE_PROBLEMS, QuoteError, RecordEnds, ROW_MAX_CHARACTERS } from "./csv-text.ts";
import { COMMA, type Delimiter } from "./delimiter.ts";
import { assertCsv, HEAD_BYTES, NUL_BYTE, problemOfText } from "./file-kind.ts";
import { CARRIAGE_RETURNS } from "./header-names.ts";
import { InvalidFileError } from "./invalid-file-error.ts";

/** One row of the file. */
export interface CsvRecord {
  /** Number of the row as in a spreadsheet: the header is 1, blank lines count. */
  readonly row: number;
  /** The bytes in the file, including the line end. */
  readonly raw: Buffer;
  /** Returns the values of its cells. */
  readonly cells: () => readonly string[];
}

/** Consecutive rows of the file, or none. */
export interface CsvBatch {
  readonly records: readonly CsvRecord[];
  /** Number of rows up to its end, including the header and blank lines. */
  readonly row: number;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;

/** Whether a line is empty. A line with only `""` is a row with one empty cell. */
function isBlank(raw: Buffer): boolean {
  return raw[0] === LINE_FEED || (raw[0] === CARRIAGE_RETURN && raw[1] === LINE_FEED);
}

function assertUtf8({ row, raw }: CsvRecord): void {
  if (!isUtf8(raw)) throw new InvalidFileError(`row ${row}: ${problemOfText(raw)}`);
}

function isTooLong(raw: Buffer): boolean {
  return raw.length > ROW_MAX_CHARACTERS && raw.toString().length > ROW_MAX_CHARACTERS;
}

/** Why a row with wrong quotes, or one that is too long, can't be read. */
function problemOf(row: number, raw: Buffer, { message }: Error): InvalidFileError {
  const hasNoLines = row === 1 && raw.includes(CARRIAGE_RETURN) && !raw.includes(LINE_FEED);
  if (hasNoLines) return new InvalidFileError(`row ${row}: ${CARRIAGE_RETURNS}`);
  const isLongCell = message === QUOTE_PROBLEMS.isOpen && isTooLong(raw);
  return new InvalidFileError(`row ${row}: ${isLongCell ? QUOTE_PROBLEMS.isTooLong : message}`);
}

/** Reads records from chunks of a file's bytes. */
class RecordReader {
  readonly #delimiter: Delimiter;
  readonly #ends = new RecordEnds();
  #row = 0;
  #unread: Buffer = Buffer.alloc(0);
  #problem: InvalidFileError | undefined;

  constructor(delimiter: Delimiter) {
    this.#delimiter = delimiter;
  }

  /** The records that a chunk completes. Those before a problem come first: the header may show what is wrong. */
  read(chunk: Uint8Array): CsvBatch {
    const before = this.#unread.length;
    this.#unread = Buffer.concat([this.#unread, chunk]);
    if (this.#row === 0 && before < HEAD_BYTES) assertCsv(this.#unread);
    if (chunk.includes(0)) throw new InvalidFileError(NUL_BYTE);
    // One character for each byte, so that positions are in bytes. Other characters of UTF-8 contain no ASCII bytes.
    const ends = this.#ends.next(this.#unread.toString("latin1", before));
    const batch = this.#take(ends.map((end) => before + end));
    if (isTooLong(this.#unread)) this.#cut(this.#row + 1, this.#unread);
    return batch;
  }

  /** The last record, which may have no line end. */
  end(): CsvBatch {
    return this.#take(this.#unread.length > 0 ? [this.#unread.length] : []);
  }

  /** @throws InvalidFileError if the row after the last returned records can't be read */
  assertNoProblem(): void {
    if (this.#problem) throw this.#problem;
  }

  /** @param ends positions after records in the unread bytes */
  #take(ends: readonly number[]): CsvBatch {
    const records: CsvRecord[] = [];
    const hasQuotes = this.#unread.includes(QUOTE);
    let row = this.#row;
    let from = 0;
    for (const end of ends) {
      const raw = this.#unread.subarray(from, end);
      const isSuspect = (hasQuotes && raw.includes(QUOTE)) || raw.length > ROW_MAX_CHARACTERS;
      const cells = isSuspect ? this.#cut(row + 1, raw) : undefined;
      if (this.#problem) break;
      row++;
      from = end;
      if (row === 1 || !isBlank(raw)) records.push(this.#recordOf(row, raw, cells));
    }
    if (!isUtf8(this.#unread.subarray(0, from))) records.forEach(assertUtf8);
    this.#unread = this.#unread.subarray(from);
    this.#row = row;
    return { records, row };
  }

  #recordOf(row: number, raw: Buffer, cells: readonly string[] | undefined): CsvRecord {
    return { row, raw, cells: () => cells ?? this.#cut(row, raw) };
  }

  /** Cuts a row into its cells. A problem is remembered. */
  #cut(row: number, raw: Buffer): readonly string[] {
    try {
      const text = raw.toString();
      const cells = cellsOf(row === 1 ? text.replace(/^\uFEFF/, "") : text, this.#delimiter);
      if (isTooLong(raw)) this.#problem = problemOf(row, raw, new QuoteError("isTooLong"));
      return cells;
    } catch (error) {
      if (!(error instanceof QuoteError)) throw error;
      this.#problem = problemOf(row, raw, error);
      return [];
    }
  }
}

/**
 * Reads CSV (RFC 4180, UTF-8, LF or CRLF) strictly and in constant memory. Rows may have any number of cells. Blank
 * lines are skipped, except row 1.
 * @throws InvalidFileError naming the row, if the file cannot be read
 */
export async function* readCsv(
  source: AsyncIterable<Uint8Array>,
  { delimiter = COMMA }: { readonly delimiter?: Delimiter } = {},
): AsyncGenerator<CsvBatch> {
  const reader = new RecordReader(delimiter);
  for await (const chunk of source) {
    yield reader.read(chunk);
    reader.assertNoProblem();
  }
  const last = reader.end();
  if (last.records.length > 0) yield last;
  reader.assertNoProblem();
}
