import { cellsOf, QUOTE_PROBLEMS, QuoteError, RecordEnds } from "../../../../lib/uploads/csv/csv-text.ts";
import type { Delimiter } from "../../../../lib/uploads/csv/delimiter.ts";

/** Encodings of text files, by the names that browsers have for them, and how people call them. */
export const ENCODINGS = {
  "utf-8": "UTF-8",
  "utf-16le": "UTF-16 (little-endian)",
  "utf-16be": "UTF-16 (big-endian)",
  "windows-1252": "Windows-1252 (Western European)",
  "iso-8859-2": "ISO-8859-2 (Central European)",
  "windows-1250": "Windows-1250 (Central European)",
  "windows-1251": "Windows-1251 (Cyrillic)",
  "koi8-r": "KOI8-R (Cyrillic)",
  "windows-1253": "Windows-1253 (Greek)",
  "windows-1254": "Windows-1254 (Turkish)",
  "windows-1255": "Windows-1255 (Hebrew)",
  "windows-1256": "Windows-1256 (Arabic)",
  shift_jis: "Shift JIS (Japanese)",
  gbk: "GBK (Simplified Chinese)",
  big5: "Big5 (Traditional Chinese)",
  "euc-kr": "EUC-KR (Korean)",
  macintosh: "Mac OS Roman",
} as const;
/** Whether an encoding can be chosen. */
export function isOffered(encoding: string): encoding is keyof typeof ENCODINGS {
  return encoding in ENCODINGS;
}

/** What the service says of a file, as a sentence. */
export function asSentence(problem: string): string {
  return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`;
}

/** Whether a row is a blank line. The service counts it and leaves it out. */
export function isBlank(cells: readonly string[]): boolean {
  return cells.length === 1 && cells[0] === "";
}

/** The first rows of a CSV file as cells, and what is wrong with the row after them, as the service says it. */
export interface FirstRows {
  readonly rows: readonly (readonly string[])[];
  readonly problem: string | undefined;
}

/**
 * Reads the first complete rows of a CSV file.
 * @param isWhole whether the text is the whole file, whose last row needs no line end
 */
export function firstRows(text: string, delimiter: Delimiter, max: number, isWhole: boolean): FirstRows {
  const rows: string[][] = [];
  const ends = new RecordEnds();
  const found = ends.next(text);
  const complete = found.length;
  // The rest is a row if the text is whole. Otherwise, it is cut only to find out whether its quotes are wrong.
  if (isWhole || ends.isInQuotes) found.push(text.length);
  let start = 0;
  try {
    for (const end of found.slice(0, max)) {
      const record = text.slice(start, end);
      start = end;
      if (record !== "") rows.push(cellsOf(record, delimiter));
    }
  } catch (error) {
    if (!(error instanceof QuoteError)) throw error;
    const isCut = !isWhole && rows.length === complete && error.message === QUOTE_PROBLEMS.isOpen;
    return { rows, problem: isCut ? undefined : `row ${rows.length + 1}: ${error.message}` };
  }
  return { rows, problem: undefined };
}
