import { InvalidFileError } from "./invalid-file-error.ts";

/** Bytes at the start of a file that show what it is. */
export const HEAD_BYTES = 1024;

/** The first bytes of known files, with what they are and what to do with them. */
const KINDS: readonly (readonly [start: readonly number[], problem: string])[] = [
  [[0xd0, 0xcf, 0x11, 0xe0], "this is an old Excel workbook (.xls) or one with a password; save it as CSV or .xlsx"],
  ...[
    [0xff, 0xfe, 0x00, 0x00],
    [0x00, 0x00, 0xfe, 0xff],
  ].map((mark) => [mark, "this is UTF-32; save it as UTF-8"] as const),
  [[0x1f, 0x8b], "this is a compressed file; upload the CSV file in it"],
  [[0x25, 0x50, 0x44, 0x46], "this is a PDF file; upload a CSV file"],
  ...[
    [0x89, 0x50, 0x4e, 0x47],
    [0xff, 0xd8, 0xff],
    [0x47, 0x49, 0x46, 0x38],
    [0x49, 0x49, 0x2a, 0x00],
    [0x4d, 0x4d, 0x00, 0x2a],
  ].map((start) => [start, "this is a picture; upload a CSV file"] as const),
];
/** Kinds of files that begin with `RIFF` or with the size of their first box. */
const PICTURE_NAMES = /^RIFF.{4}WEBP|^.{4}ftyp(?:heic|heix|mif1|avif)/s;
const ZIP = [0x50, 0x4b, 0x03, 0x04];
/** Names at the start of a ZIP file that is a workbook. */
const WORKBOOK_NAMES = /\[Content_Types\]\.xml|_rels\/|docProps\/|xl\/|opendocument\.spreadsheet/;

function beginsWith(head: Uint8Array, start: readonly number[]): boolean {
  return start.every((byte, at) => head[at] === byte);
}

const UTF_16 = "the file is UTF-16; save it as UTF-8 or use the import page";

/** The encoding that a file's byte order mark names. */
export function markOf(head: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" | undefined {
  if (beginsWith(head, [0xef, 0xbb, 0xbf])) return "utf-8";
  if (beginsWith(head, [0xff, 0xfe])) return "utf-16le";
  return beginsWith(head, [0xfe, 0xff]) ? "utf-16be" : undefined;
}

/** Whether bytes, which may end inside a character, are text in an encoding. */
function isText(bytes: Uint8Array, encoding: string): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/**
 * The kind of UTF-16 of a file by its first bytes; undefined if it isn't UTF-16. Its byte order mark shows it, or the zeros
 * in one of the two bytes of Latin letters, or at least of delimiters, digits and line ends.
 */
export function utf16Of(head: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  const mark = markOf(head);
  if (mark !== undefined) return mark === "utf-8" ? undefined : mark;
  const start = head.subarray(0, HEAD_BYTES);
  const zeros: [even: number, odd: number] = [0, 0];
  let lineEnds = 0;
  for (const [index, byte] of start.entries()) {
    if (byte !== 0) continue;
    zeros[index % 2 === 0 ? 0 : 1]++;
    const other = start[index % 2 === 0 ? index + 1 : index - 1];
    if (other === 0x0a || other === 0x0d) lineEnds++;
  }
  const [most, fewest] = [Math.max(...zeros), Math.min(...zeros)];
  const isLatin = fewest === 0 && most > start.length / 4;
  // Some letters end with a 0 too, such as the ideograph for one.
  const isOther = lineEnds > 0 && most > 2 && most > start.length / 64 && fewest <= most / 4;
  const encoding = zeros[1] > zeros[0] ? "utf-16le" : "utf-16be";
  return (isLatin || isOther) && isText(start, encoding) ? encoding : undefined;
}

/** The error of a file with NUL bytes, such as a picture, a program or a damaged file. */
export const NUL_BYTE = "this looks like a binary file (it has a NUL byte); choose UTF-8 text, such as CSV";

/** Texts that aren't tables, by how they begin, and what they are. */
const OTHER_TEXTS: readonly (readonly [start: RegExp, problem: string])[] = [
  [/^\uFEFF?\s*<(?:!doctype|html|\?xml)/i, "this is a web page or XML; save the table in it as CSV"],
  [/^\uFEFF?\s*(?:\[\s*\{|\{\s*")/, "this is JSON; save the table as CSV, or send the items in batches"],
];

/** What is wrong with a text that isn't a table, by its beginning; undefined if it can be one. */
export function problemOfOtherText(text: string): string | undefined {
  return OTHER_TEXTS.find(([start]) => start.test(text))?.[1];
}

/** Documents that are ZIP files, by names of files in them. */
const ARCHIVES: readonly (readonly [names: RegExp, problem: string])[] = [
  [/Index\/[\w/-]+\.iwa|Index\.zip/, "this is a document of Numbers, Pages or Keynote; in Numbers, export it as CSV"],
  [/word\/\w+\.xml|opendocument\.text/, "this is a text document; choose a CSV or .xlsx file"],
  [/ppt\/\w+\.xml|opendocument\.presentation/, "this is a presentation; choose a CSV or .xlsx file"],
];

/** Whether a file is a workbook (.xlsx), by its first bytes. */
export function isWorkbook(head: Uint8Array): boolean {
  if (!beginsWith(head, ZIP)) return false;
  const start = new TextDecoder("latin1").decode(head.subarray(0, HEAD_BYTES));
  return WORKBOOK_NAMES.test(start) && !ARCHIVES.some(([names]) => names.test(start));
}

const BINARY = "this looks like a binary file; choose a CSV or .xlsx file";
/** Share of a text's bytes that may be control characters: a few may have slipped in. */
const CONTROLS_MAX = 0.01;

/** Whether a byte is a control character that no text has: neither white space nor escape. */
function isControl(byte: number): boolean {
  return byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d) && byte !== 0x1a && byte !== 0x1b;
}

/** Whether a file isn't text, by its characters: UTF-8 may have any control character but NUL, UTF-16 has NUL bytes. */
function isBinary(head: Uint8Array): boolean {
  const start = head.subarray(0, HEAD_BYTES);
  const controls = start.filter(isControl).length;
  const isUtf8 = isText(start, "utf-8") && !start.includes(0);
  return controls > 1 && controls > start.length * CONTROLS_MAX && !isUtf8 && utf16Of(head) === undefined;
}

/** What is wrong with a file that isn't text, by its first bytes; undefined if it can be text. */
export function problemOfBinary(head: Uint8Array): string | undefined {
  const kind = KINDS.find(([start]) => beginsWith(head, start));
  if (kind) return kind[1];
  const start = new TextDecoder("latin1").decode(head.subarray(0, HEAD_BYTES));
  if (PICTURE_NAMES.test(start)) return "this is a picture; upload a CSV file";
  if (!beginsWith(head, ZIP)) return isBinary(head) ? BINARY : undefined;
  const archive = ARCHIVES.find(([names]) => names.test(start));
  if (archive) return archive[1];
  return isWorkbook(head)
    ? "this is an Excel workbook; save it as CSV or use the import page"
    : "this is a ZIP file; upload the CSV file in it";
}

/** Refuses a file that is something else than text in one byte a Latin letter. @throws InvalidFileError that names it */
export function assertCsv(head: Uint8Array): void {
  const problem =
    problemOfBinary(head) ??
    (utf16Of(head) === undefined ? undefined : UTF_16) ??
    problemOfOtherText(new TextDecoder().decode(head.subarray(0, HEAD_BYTES)));
  if (problem !== undefined) throw new InvalidFileError(problem);
}

/** Bytes that Windows-1252 does not define. */
const UNDEFINED_1252 = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

/** Whether bytes are neither UTF-8 nor Windows-1252, but for example Shift_JIS. */
function isUnlike1252(bytes: Uint8Array): boolean {
  return UNDEFINED_1252.some((byte) => bytes.includes(byte));
}

/** What is wrong with the encoding of bytes that are not UTF-8. */
export function problemOfText(bytes: Uint8Array): string {
  return isUnlike1252(bytes)
    ? "the file must be UTF-8"
    : "the file must be UTF-8, and this looks like Windows-1252; save it as UTF-8 or use the import page";
}
