import { type Delimiter, DELIMITERS } from "@work-items/lib/uploads/csv/delimiter.ts";
import { markOf, utf16Of } from "@work-items/lib/uploads/csv/file-kind.ts";
import { type DelimiterReading, delimitersIn } from "../proposals/find-delimiter.ts";
import { createCellRepair } from "./cell-values.ts";
import { decodeStrictly, encodingName, UTF_8 } from "../letters/encodings.ts";
import { findLikelyEncodings, type LikelyEncoding, valuesIn } from "../letters/likely-encodings.ts";
import {
  endOfFileIn,
  findBadByte,
  readWhole,
  type RowLayout,
  rowAt,
  sampleLines,
  type WholeText,
} from "./whole-text.ts";

/** What is read of a file to detect its format. */
export const HEAD_BYTES = 512 * 1024;

/** Why a person has to choose the encoding of a file. */
export interface EncodingDoubt {
  /** What is wrong, as a sentence without its end: "row 7 isn't valid UTF-8". */
  readonly problem: string;
  /** The likeliest first; none if the file has to be saved as UTF-8. */
  readonly likely: readonly LikelyEncoding[];
  /** Whether it can still be UTF-8. */
  readonly mayBeUtf8: boolean;
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

const ESCAPE = 0x1b;

/** What to ask about a file without byte order mark that isn't UTF-8, or looks like another encoding. */
async function findDoubt(
  file: Blob,
  { brokenFrom, sign }: WholeText,
  layout: Layout,
): Promise<EncodingDoubt | undefined> {
  const { delimiter } = layout;
  if (brokenFrom !== undefined) {
    const { row, offset } = await findBadByte(file, UTF_8, brokenFrom, layout);
    const lines = await sampleLines(file, offset, (byte) => byte >= 0x80);
    const others =
      lines.filter((line) => decodeStrictly(line, UTF_8) !== undefined).length > lines.length / 2
        ? ", but most others are: fix the damaged row"
        : "";
    const likely = findLikelyEncodings(lines, delimiter);
    return { problem: `row ${row} isn't valid UTF-8${others}`, likely, mayBeUtf8: false };
  }
  if (sign === undefined) return undefined;
  const problem = `row ${await rowAt(file, sign.offset, layout)} looks like ${sign.name}`;
  if (sign.encoding === undefined) return { problem, likely: [], mayBeUtf8: true };
  const lines = await sampleLines(file, sign.offset, (byte) => byte === ESCAPE);
  return { problem, likely: findLikelyEncodings(lines, delimiter, [sign.encoding]), mayBeUtf8: true };
}

function doubtOfUtf16(head: Uint8Array, encoding: string, { delimiter }: Layout): EncodingDoubt {
  const lines = new TextDecoder(encoding).decode(head, { stream: true }).split(/[\r\n]+/);
  return {
    problem: `the file looks like ${encodingName(encoding)}, but has no byte order mark`,
    likely: [{ encoding, values: valuesIn([lines], delimiter)[0] ?? [] }],
    mayBeUtf8: false,
  };
}

/**
 * Detects the format of a file and reads it to its end to be sure. The encoding is in doubt without a byte order mark,
 * unless the file is UTF-8.
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
  const given = chosen ?? marked;
  const encoding = given ?? utf16Of(head) ?? UTF_8;
  const layout = layoutOf(head, encoding, known.delimiter);
  if (given === undefined && encoding !== UTF_8) {
    const doubt = doubtOfUtf16(head, encoding, layout);
    return { encoding, doubt, ...layout, mayNeedRepair: true };
  }
  const whole = await readWhole(file, encoding);
  if (given !== undefined && whole.brokenFrom !== undefined) {
    const { row } = await findBadByte(file, encoding, whole.brokenFrom, layout);
    throw new EncodingError(`row ${row} isn't valid ${encodingName(encoding)}`);
  }
  const doubt = given === undefined ? await findDoubt(file, whole, layout) : undefined;
  return {
    encoding: doubt?.likely[0]?.encoding ?? encoding,
    doubt,
    ...layout,
    mayNeedRepair: whole.mayNeedRepair,
  };
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
