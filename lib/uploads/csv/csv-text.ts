import type { Delimiter } from "./delimiter.ts";

/** Limit of a row. An item's largest custom attributes fit, even if all their characters are doubled quotes. */
export const ROW_MAX_CHARACTERS = 1024 * 1024;

/** What can be wrong with the quotes of a row. */
export const QUOTE_PROBLEMS = {
  isOpen: "a quote is opened and never closed; close it, or double it if it belongs to the text",
  isFollowed: "after a closing quote there must be the delimiter or the end of the row; double the quotes in a value",
  isInside: "there is a quote in a value that doesn't begin with one; put the value in quotes and double its own",
  isTooLong: `the row is longer than ${ROW_MAX_CHARACTERS} characters; check for a quote that isn't closed`,
} as const;

/** The quotes of a record are wrong. */
export class QuoteError extends Error {
  override readonly name: string = "QuoteError";
  override readonly message: (typeof QUOTE_PROBLEMS)[keyof typeof QUOTE_PROBLEMS];

  constructor(problem: keyof typeof QUOTE_PROBLEMS) {
    super();
    this.message = QUOTE_PROBLEMS[problem];
  }
}

/**
 * Finds the ends of the records in a text that comes in pieces: line feeds outside quotes. A doubled quote closes and
 * opens again. A record with wrong quotes may continue in the following lines: `rawCells` rejects it.
 */
export class RecordEnds {
  #isInQuotes = false;

  /** Whether the text so far ends within quotes. */
  get isInQuotes(): boolean {
    return this.#isInQuotes;
  }

  /** The positions in the next piece at which records end, each after its line feed. */
  next(piece: string): number[] {
    const ends: number[] = [];
    let quote = piece.indexOf('"');
    const passQuotes = (end: number): void => {
      for (; quote !== -1 && quote < end; quote = piece.indexOf('"', quote + 1)) this.#isInQuotes = !this.#isInQuotes;
    };
    for (let at = piece.indexOf("\n"); at !== -1; at = piece.indexOf("\n", at + 1)) {
      passQuotes(at);
      if (!this.#isInQuotes) ends.push(at + 1);
    }
    passQuotes(piece.length);
    return ends;
  }
}

/** Cuts a CSV text that comes in pieces into its records. */
export class RecordCut {
  readonly #ends = new RecordEnds();
  #rest = "";

  /** Whether the incomplete record is longer than a row may be. */
  get isTooLong(): boolean {
    return this.#rest.length > ROW_MAX_CHARACTERS;
  }

  /** The records that the next piece completes, with their line ends. */
  next(piece: string): string[] {
    let start = 0;
    const records = this.#ends.next(piece).map((end) => {
      const record = this.take() + piece.slice(start, end);
      start = end;
      return record;
    });
    this.#rest += piece.slice(start);
    return records;
  }

  /** Takes the incomplete record: at the end of the text, a record without line end. */
  take(): string {
    const rest = this.#rest;
    this.#rest = "";
    return rest;
  }
}

/** The line end of a record; empty if it has none. */
export function lineEndOf(record: string): "\r\n" | "\n" | "" {
  if (!record.endsWith("\n")) return "";
  return record.endsWith("\r\n") ? "\r\n" : "\n";
}

/** Where the quoted cell at `start` ends, after its closing quote. @throws QuoteError */
export function endOfQuoted(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1 && text[quote + 1] === '"') quote = text.indexOf('"', quote + 2);
  if (quote === -1) throw new QuoteError("isOpen");
  return quote + 1;
}

/** Cuts a record, with or without its line end, into its cells with their quotes. @throws QuoteError */
export function rawCells(record: string, delimiter: Delimiter): string[] {
  const text = record.slice(0, record.length - lineEndOf(record).length);
  if (!text.includes('"')) return text.split(delimiter);
  const cells: string[] = [];
  for (let start = 0; start <= text.length;) {
    const isQuoted = text[start] === '"';
    const from = isQuoted ? endOfQuoted(text, start) : start;
    const next = text.indexOf(delimiter, from);
    const end = next === -1 ? text.length : next;
    if (isQuoted && end > from) throw new QuoteError("isFollowed");
    const cell = text.slice(start, end);
    if (!isQuoted && cell.includes('"')) throw new QuoteError("isInside");
    cells.push(cell);
    start = end + 1;
  }
  return cells;
}

/** The value of a cell, without quotes. */
export function cellValue(cell: string): string {
  return cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
}

/** The values of a record's cells. @throws QuoteError */
export function cellsOf(record: string, delimiter: Delimiter): string[] {
  return rawCells(record, delimiter).map(cellValue);
}

/** A cell with a value, quoted if necessary. */
export function toCell(value: string, delimiter: Delimiter): string {
  return /["\r\n]/.test(value) || value.includes(delimiter) ? `"${value.replaceAll('"', '""')}"` : value;
}
