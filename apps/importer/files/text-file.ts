import { type Delimiter, DELIMITERS } from "@work-items/lib/uploads/csv/delimiter.ts";
import { markOf, utf16Of } from "@work-items/lib/uploads/csv/file-kind.ts";
import { type DelimiterReading, delimitersIn } from "../proposals/find-delimiter.ts";
import { createCellRepair } from "./cell-values.ts";
import { decodeStrictly, encodingName, UTF_8 } from "../letters/encodings.ts";
import { findLikelyEncodings, type LikelyEncoding } from "../letters/likely-encodings.ts";
import { endOfFileIn, findBadByte, readWhole, type RowLayout, sampleLines } from "./whole-text.ts";

/** What is read of a file to detect its format. */
export const HEAD_BYTES = 512 * 1024;

/** Why a person has to choose the encoding of a file. */
export interface EncodingDoubt {
  /** What is wrong, as a sentence without its end: "row 7 isn't valid UTF-8". */
  readonly problem: string;
  /** The likeliest first; none if the file has to be saved as UTF-8. */
  readonly likely: readonly LikelyEncoding[];
}

/** The format of a text file with a table. */
export interface TextFormat extends RowLayout {
  /** A name of the Encoding Standard; with a doubt, only the likeliest. */
  readonly encoding: string;
  /** What to ask before the file is read; undefined if its encoding is certain or was chosen. */
  readonly doubt: EncodingDoubt | undefined;
  /** If `delimiters` has several, only the likeliest. */
  readonly delimiter: Delimiter;
  /** If several delimiters fit, how the header reads with each: a person has to choose. Otherwise empty. */
  readonly delimiters: readonly DelimiterReading[];
  /** Whether `toUtf8` may change something else than its encoding, its line ends or a hidden line. */
  readonly mayNeedRepair: boolean;
}

/** A file isn't text in its encoding. The message says in which row, as a sentence without its end. */
export class EncodingError extends Error {
  override readonly name: string = "EncodingError";
}

const HIDDEN_LINE = /^sep=(.?)(?:\r\n|\n|\r)/i;
/** The characters of a file in which its delimiter is searched. */
const DELIMITER_CHARACTERS = 64 * 1024;

/** How the rows of a text are cut. */
type Layout = Pick<TextFormat, keyof RowLayout | "delimiter" | "delimiters">;

function layoutOf(head: Uint8Array, encoding: string, delimiter: Delimiter | undefined): Layout {
  const text = new TextDecoder(encoding).decode(head, { stream: true });
  const [hidden = "", named = ""] = HIDDEN_LINE.exec(text) ?? [];
  const unquoted = text.replaceAll(/"(?:""|[^"])*"/g, "");
  const known = delimiter ?? (named in DELIMITERS ? (named as Delimiter) : undefined);
  const found = known === undefined ? delimitersIn(text.slice(hidden.length, DELIMITER_CHARACTERS)) : [];
  return {
    delimiter: known ?? found[0]!.delimiter,
    delimiters: found.length > 1 ? found : [],
    hasOnlyReturns: unquoted.includes("\r") && !unquoted.includes("\n"),
    hiddenCharacters: hidden.length,
  };
}

const WESTERN = "windows-1252";
/** DOS code pages and Mac OS Roman have other characters in their places. */
const SMALL_LETTERS = /[ß-ÿ]/g;
/** With fewer different ones, a text is too short to know. */
const LETTERS_MIN = 3;

/** The encoding of a file without byte order mark that isn't UTF-8, or what to ask. @param brokenFrom as in `WholeText` */
async function guess(file: Blob, brokenFrom: number, layout: Layout) {
  const { row, offset } = await findBadByte(file, UTF_8, brokenFrom, layout);
  const lines = await sampleLines(file, offset, (byte) => byte >= 0x80);
  const valid = lines.filter((line) => decodeStrictly(line, UTF_8) !== undefined).length;
  const others = valid > lines.length / 2 ? ", but most others are: fix the damaged row" : "";
  const likely = findLikelyEncodings(lines, layout.delimiter);
  const letters = lines.flatMap((line) => new TextDecoder(WESTERN).decode(line).match(SMALL_LETTERS) ?? []);
  const [{ encoding } = { encoding: UTF_8 }, ...more] = likely;
  const isClear = encoding === WESTERN && more.length + valid === 0 && new Set(letters).size >= LETTERS_MIN;
  return { encoding, doubt: isClear ? undefined : { problem: `row ${row} isn't valid UTF-8${others}`, likely } };
}

/**
 * Detects the format of a file and reads it to its end to be sure. The encoding is in doubt without a byte order mark, unless
 * the file is UTF-8, UTF-16, or has letters that only one encoding has.
 * @param known what was chosen
 * @throws EncodingError if it isn't text in its encoding
 * @throws RangeError if the known encoding doesn't exist
 */
export async function findTextFormat(
  file: Blob,
  known: { readonly encoding?: string | undefined; readonly delimiter?: Delimiter | undefined } = {},
): Promise<TextFormat> {
  const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  const marked = markOf(head);
  const chosen = known.encoding === undefined ? undefined : new TextDecoder(known.encoding).encoding;
  if (chosen !== undefined && marked !== undefined && chosen !== marked) {
    throw new EncodingError(
      `the file isn't ${encodingName(chosen)}: it begins with a byte order mark of ${encodingName(marked)}`,
    );
  }
  const given = chosen ?? marked ?? utf16Of(head);
  const encoding = given ?? UTF_8;
  const layout = layoutOf(head, encoding, known.delimiter);
  const { brokenFrom, mayNeedRepair } = await readWhole(file, encoding);
  if (given !== undefined && brokenFrom !== undefined) {
    const { row } = await findBadByte(file, encoding, brokenFrom, layout);
    throw new EncodingError(`row ${row} isn't valid ${encodingName(encoding)}`);
  }
  const found = brokenFrom === undefined ? { encoding, doubt: undefined } : await guess(file, brokenFrom, layout);
  return { ...found, ...layout, mayNeedRepair };
}

/** Removes a hidden first line, and ends rows with LF. */
function createRepair({ hasOnlyReturns, hiddenCharacters }: TextFormat): TransformStream<string, string> {
  let hidden = hiddenCharacters;
  return new TransformStream({
    transform: (chunk, controller) => {
      const text = chunk.slice(hidden);
      hidden -= chunk.length - text.length;
      controller.enqueue(hasOnlyReturns ? text.replaceAll("\r", "\n") : text);
    },
  });
}

/**
 * The file as UTF-8, with rows that end with LF or CRLF, and without a hidden first line, prefixes of an export, texts
 * written as formulas and an end-of-file character; undefined if the file is like that. The stream fails if the file
 * isn't text in its encoding, for example because it has changed.
 */
export function toUtf8(file: Blob, format: TextFormat): ReadableStream<Uint8Array> | undefined {
  const { encoding, delimiter, hasOnlyReturns, hiddenCharacters, mayNeedRepair } = format;
  if (encoding === UTF_8 && !hasOnlyReturns && hiddenCharacters === 0 && !mayNeedRepair) return undefined;
  return file
    .stream()
    .pipeThrough(new TextDecoderStream(encoding, { fatal: true }))
    .pipeThrough(createRepair(format))
    .pipeThrough(withoutEndOfFile())
    .pipeThrough(createCellRepair(delimiter))
    .pipeThrough(new TextEncoderStream());
}

/** Removes the end-of-file character of a text that comes in pieces, and the line ends after it. Elsewhere it stays. */
function withoutEndOfFile(): TransformStream<string, string> {
  let held = "";
  return new TransformStream({
    transform: (piece, controller) => {
      const text = held + piece;
      const at = endOfFileIn(text);
      held = at === -1 ? "" : text.slice(at);
      controller.enqueue(at === -1 ? text : text.slice(0, at));
    },
  });
}
