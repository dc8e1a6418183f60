import { InvalidFileError } from "./invalid-file-error.ts";

/** Bytes at the start of a file that show what it is. */
export const HEAD_BYTES = 1024;

/** What the file is that begins so, and what to do with it. */
const KINDS: readonly (readonly [start: readonly number[], problem: string])[] = [
  [[0xd0, 0xcf, 0x11, 0xe0], "this is an Excel workbook; save it as CSV or use the upload page"],
  [[0x1f, 0x8b], "this is a compressed file; upload the CSV file in it"],
  [[0x25, 0x50, 0x44, 0x46], "this is a PDF file; upload a CSV file"],
];
const ZIP = [0x50, 0x4b, 0x03, 0x04];
/** Names that stand at the start of a ZIP file which is a workbook. */
const WORKBOOK_NAMES = /\[Content_Types\]\.xml|_rels\/|docProps\/|xl\/|opendocument\.spreadsheet/;

const beginsWith = (head: Uint8Array, start: readonly number[]): boolean =>
  start.every((byte, at) => head[at] === byte);

const UTF_16 = "the file is UTF-16; save it as UTF-8 or use the upload page";

/** Whether every other byte of a text is 0, as in UTF-16 of Latin letters. */
const isUtf16 = (head: Uint8Array): boolean => {
  if (beginsWith(head, [0xff, 0xfe]) || beginsWith(head, [0xfe, 0xff])) return true;
  const zeros = [0, 0];
  for (const [index, byte] of head.entries()) if (byte === 0) zeros[index % 2]! += 1;
  return Math.max(...zeros) > head.length / 4 && Math.min(...zeros) === 0;
};

const problemOfHead = (head: Buffer): string | undefined => {
  const known = KINDS.find(([start]) => beginsWith(head, start));
  if (known) return known[1];
  if (beginsWith(head, ZIP)) {
    return WORKBOOK_NAMES.test(head.toString("latin1"))
      ? "this is an Excel workbook; save it as CSV or use the upload page"
      : "this is a ZIP file; upload the CSV file in it";
  }
  return isUtf16(head) ? UTF_16 : undefined;
};

/** Refuses a file that is something else than text in one byte a Latin letter. @throws InvalidFileError that names it */
export const assertCsv = (bytes: Buffer): void => {
  const problem = problemOfHead(bytes.subarray(0, HEAD_BYTES));
  if (problem !== undefined) throw new InvalidFileError(problem);
};

/** Bytes that Windows-1252 does not define. */
const UNDEFINED_1252 = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

/** What is wrong with the encoding of bytes that are not UTF-8. */
export const problemOfText = (bytes: Buffer): string =>
  UNDEFINED_1252.some((byte) => bytes.includes(byte))
    ? "the file must be UTF-8"
    : "the file must be UTF-8, and this looks like Windows-1252; save it as UTF-8 or use the upload page";
