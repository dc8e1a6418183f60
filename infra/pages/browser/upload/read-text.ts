import { cellValue, rawCells } from "../../../../lib/uploads/csv/csv-row.ts";
import type { Delimiter } from "../../../../lib/uploads/csv/delimiter.ts";

/** Encodings of text files, by the names that browsers have for them, and how people call them. */
export const ENCODINGS = {
  "utf-8": "UTF-8",
  "utf-16le": "UTF-16 (little-endian)",
  "utf-16be": "UTF-16 (big-endian)",
  "windows-1252": "Windows-1252 (Western European)",
} as const;
/** An encoding of a text file. */
export type Encoding = keyof typeof ENCODINGS;

/** So much of a file is read before anything is sent. */
export const HEAD_BYTES = 512 * 1024;

const isUtf8 = (head: Uint8Array): boolean => {
  try {
    // The last character may be cut.
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
};

/** The encoding of a text file by its first bytes. */
export const encodingOf = (head: Uint8Array): Encoding => {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  const zeros = [0, 0];
  for (const [index, byte] of head.subarray(0, 1024).entries()) if (byte === 0) zeros[index % 2]! += 1;
  if (zeros[1]! > 32 && zeros[0] === 0) return "utf-16le";
  if (zeros[0]! > 32 && zeros[1] === 0) return "utf-16be";
  return isUtf8(head) ? "utf-8" : "windows-1252";
};

/** Text without byte order mark. */
export const decode = (bytes: Uint8Array, encoding: Encoding): string => new TextDecoder(encoding).decode(bytes);

/** Whether a row is a blank line. The service counts it and leaves it out. */
export const isBlank = (cells: readonly string[]): boolean => cells.length === 1 && cells[0] === "";

/**
 * The first complete rows of a CSV file as cells.
 * @param isWhole whether the text is the whole file, whose last row needs no line end
 */
export const firstRows = (text: string, delimiter: Delimiter, max: number, isWhole: boolean): string[][] => {
  const rows: string[][] = [];
  let start = 0;
  let isQuoted = false;
  const take = (end: number): void => {
    const row = text.slice(start, end);
    start = end;
    rows.push(rawCells(row, delimiter).map(cellValue));
  };
  for (let at = 0; at < text.length && rows.length < max; at++) {
    const character = text[at];
    if (character === '"') isQuoted = !isQuoted;
    else if (character === "\n" && !isQuoted) take(at + 1);
  }
  if (isWhole && start < text.length && rows.length < max) take(text.length);
  return rows;
};

/** The whole file as UTF-8; the file itself if it is so already. */
export const asUtf8 = async (file: Blob, encoding: Encoding): Promise<Blob> => {
  if (encoding === "utf-8") return file;
  const decoded = file.stream().pipeThrough(new TextDecoderStream(encoding)).pipeThrough(new TextEncoderStream());
  return new Response(decoded).blob();
};
