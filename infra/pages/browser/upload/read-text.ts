import { QUOTE_PROBLEMS } from "../../../../lib/uploads/csv/csv-row.ts";
import type { Delimiter } from "../../../../lib/uploads/csv/delimiter.ts";

/** Encodings of text files, by the names that browsers have for them, and how people call them. */
export const ENCODINGS = {
  "utf-8": "UTF-8",
  "utf-16le": "UTF-16 (little-endian)",
  "utf-16be": "UTF-16 (big-endian)",
  "windows-1252": "Windows-1252 (Western European)",
} as const;
/** Whether an encoding can be chosen. */
export const isOffered = (encoding: string): encoding is keyof typeof ENCODINGS => encoding in ENCODINGS;

/** What the service says of a file, as a sentence. */
export const asSentence = (problem: string): string => `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`;

/** Whether a row is a blank line. The service counts it and leaves it out. */
export const isBlank = (cells: readonly string[]): boolean => cells.length === 1 && cells[0] === "";

/** The first rows of a CSV file as cells, and what is wrong with the row after them, as the service says it. */
export interface FirstRows {
  readonly rows: readonly (readonly string[])[];
  readonly problem: string | undefined;
}

/** A cell in quotes, or one without any. */
const cellPattern = (delimiter: Delimiter): RegExp =>
  new RegExp(String.raw`"([^"]*(?:""[^"]*)*)"|([^"\n${delimiter}]*)`, "y");

/**
 * Reads the first complete rows of a CSV file.
 * @param isWhole whether the text is the whole file, whose last row needs no line end
 */
export const firstRows = (text: string, delimiter: Delimiter, max: number, isWhole: boolean): FirstRows => {
  const rows: string[][] = [];
  const pattern = cellPattern(delimiter);
  let row: string[] = [];
  const stop = (problem?: string): FirstRows => ({
    rows,
    problem: problem === undefined ? undefined : `row ${rows.length + 1}: ${problem}`,
  });
  while (rows.length < max && pattern.lastIndex < text.length) {
    const [cell = "", quoted, plain = ""] = pattern.exec(text) ?? [];
    const end = pattern.lastIndex;
    const isEnd = end === text.length;
    const isLastCell = text[end] === delimiter && end + 1 === text.length;
    const next = text[end] === "\r" && text[end + 1] === "\n" ? "\n" : text[end];
    const isInQuotes = cell === "" || quoted !== undefined;
    if (next === '"' && isInQuotes) return stop(isWhole ? QUOTE_PROBLEMS.isOpen : undefined);
    if (next === '"') return stop(QUOTE_PROBLEMS.isInside);
    if (!isEnd && next !== "\n" && next !== delimiter) return stop(QUOTE_PROBLEMS.isFollowed);
    if ((isEnd || isLastCell) && !isWhole) return stop();
    row.push(quoted?.replaceAll('""', '"') ?? (next === "\n" ? plain.replace(/\r$/, "") : plain));
    pattern.lastIndex = end + (text[end] === "\r" ? 2 : 1);
    if (next === delimiter && !isLastCell) continue;
    if (isLastCell) row.push("");
    rows.push(row);
    row = [];
  }
  return stop();
};
