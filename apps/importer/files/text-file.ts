import { type Delimiter, DELIMITERS } from "../../../lib/uploads/csv/delimiter.ts";
import { markOf, utf16Of } from "../../../lib/uploads/csv/file-kind.ts";
import { type DelimiterReading, delimitersIn } from "../proposals/find-delimiter.ts";
import { createCellRepair } from "./cell-values.ts";
import { encodingName, UTF_8 } from "./encodings.ts";
import { findLikelyEncodings, type LikelyEncoding, readingsOf, valuesIn } from "./likely-encodings.ts";
import { findBadByte, readWhole, type RowLayout, rowAt, sampleLines, type WholeText } from "./whole-text.ts";

/** So much of a file is looked at to know how it is written. */
export const HEAD_BYTES = 512 * 1024;

/** Why the encoding of a file has to be asked for. */
export interface EncodingDoubt {
  /** What is wrong, as a sentence without its end: "row 7 isn't valid UTF-8". */
  readonly problem: string;
  /** The likely encodings, the likeliest first; none if the file has to be saved as UTF-8. */
  readonly likely: readonly LikelyEncoding[];
  /** Whether it can be UTF-8 all the same. */
  readonly mayBeUtf8: boolean;
}

/** How a text file with a table is written. */
export interface TextFormat extends RowLayout {
  /** A name of the Encoding Standard; only the likeliest one while there is a doubt. */
  readonly encoding: string;
  /** What has to be asked before the file is read; undefined if its encoding is certain or was chosen. */
  readonly doubt: EncodingDoubt | undefined;
  /** Only the likeliest one while there is a question about it. */
  readonly delimiter: Delimiter;
  /** How the header reads by each of several delimiters that fit: a person has to choose. None if it is certain or was chosen. */
  readonly delimiters: readonly DelimiterReading[];
  /** Whether there may be cells with the prefix of an export, or with a text as a formula. */
  readonly mayHavePrefixes: boolean;
  /** Whether the file ends with the end mark of DOS. */
  readonly hasEndMark: boolean;
}

/** A file isn't text in its encoding. The message says in which row, as a sentence without its end. */
export class EncodingError extends Error {
  override readonly name: string = "EncodingError";
}

const HIDDEN_LINE = /^sep=(.?)(?:\r\n|\n|\r)/i;
/** So many characters of a file show its delimiter. */
const DELIMITER_CHARACTERS = 64 * 1024;

/** How the rows of a text are cut. */
type Layout = Pick<TextFormat, keyof RowLayout | "delimiter" | "delimiters">;

function layoutOf(head: Uint8Array, encoding: string, delimiter: Delimiter | undefined): Layout {
  const text = new TextDecoder(encoding).decode(head, { stream: true });
  const [hidden = "", told = ""] = HIDDEN_LINE.exec(text) ?? [];
  const unquoted = text.replaceAll(/"(?:""|[^"])*"/g, "");
  const known = delimiter ?? (told in DELIMITERS ? (told as Delimiter) : undefined);
  const found = known === undefined ? delimitersIn(text.slice(hidden.length, DELIMITER_CHARACTERS)) : [];
  return {
    delimiter: known ?? found[0]!.delimiter,
    delimiters: found.length > 1 ? found : [],
    hasOnlyReturns: unquoted.includes("\r") && !unquoted.includes("\n"),
    hiddenCharacters: hidden.length,
  };
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder(UTF_8, { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

const ESCAPE = 0x1b;

/** What has to be asked about a file without mark that isn't UTF-8, or that has signs of not being it. */
async function findDoubt(
  file: Blob,
  { brokenFrom, sign }: WholeText,
  layout: Layout,
): Promise<EncodingDoubt | undefined> {
  const { delimiter } = layout;
  if (brokenFrom !== undefined) {
    const { row, offset } = await findBadByte(file, UTF_8, brokenFrom, layout);
    const lines = await sampleLines(file, offset, (byte) => byte >= 0x80);
    const others = lines.filter(isUtf8).length > lines.length / 2 ? ", but most others are: fix the damaged row" : "";
    const likely = findLikelyEncodings(lines, delimiter);
    return { problem: `row ${row} isn't valid UTF-8${others}`, likely, mayBeUtf8: false };
  }
  if (sign === undefined) return undefined;
  const problem = `row ${await rowAt(file, sign.offset, layout)} looks like ${sign.name}`;
  if (sign.encoding === undefined) return { problem, likely: [], mayBeUtf8: true };
  const lines = await sampleLines(file, sign.offset, (byte) => byte === ESCAPE);
  return { problem, likely: readingsOf(lines, [sign.encoding], delimiter), mayBeUtf8: true };
}

function doubtOfUtf16(head: Uint8Array, encoding: string, { delimiter }: Layout): EncodingDoubt {
  const lines = new TextDecoder(encoding).decode(head, { stream: true }).split(/[\r\n]+/);
  return {
    problem: `the file looks like ${encodingName(encoding)}, but doesn't begin with its mark`,
    likely: [{ encoding, values: valuesIn([lines], delimiter)[0] ?? [] }],
    mayBeUtf8: false,
  };
}

async function encodingError(file: Blob, encoding: string, brokenFrom: number, layout: Layout): Promise<EncodingError> {
  const { row } = await findBadByte(file, encoding, brokenFrom, layout);
  return new EncodingError(`row ${row} isn't valid ${encodingName(encoding)}`);
}

/**
 * Finds out how a file is written, and reads it to its end to be sure of that. What is neither UTF-8 nor has a mark that
 * says its encoding is in doubt.
 * @param known what is not to be found out
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
      `the file isn't ${encodingName(chosen)}: it begins with the mark of ${encodingName(marked)}`,
    );
  }
  const given = chosen ?? marked;
  const encoding = given ?? utf16Of(head) ?? UTF_8;
  const layout = layoutOf(head, encoding, known.delimiter);
  if (given === undefined && encoding !== UTF_8) {
    const doubt = doubtOfUtf16(head, encoding, layout);
    return { encoding, doubt, ...layout, mayHavePrefixes: true, hasEndMark: true };
  }
  const whole = await readWhole(file, encoding);
  if (given !== undefined && whole.brokenFrom !== undefined) {
    throw await encodingError(file, encoding, whole.brokenFrom, layout);
  }
  const doubt = given === undefined ? await findDoubt(file, whole, layout) : undefined;
  return {
    encoding: doubt?.likely[0]?.encoding ?? encoding,
    doubt,
    ...layout,
    // All other files are converted anyway.
    mayHavePrefixes: encoding !== UTF_8 || whole.mayHavePrefixes,
    hasEndMark: endMarkIn(whole.end) !== -1,
  };
}

/** Leaves out a hidden first line, and ends rows with LF. */
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
 * The file as UTF-8 whose rows end with LF or CRLF, whose row 1 is the header, whose cells have no prefix of an export
 * and aren't texts as formulas, and which has no end mark; undefined if it is so already. The stream fails at what isn't text in its encoding, as a changed file may not be.
 */
export function toUtf8(file: Blob, format: TextFormat): ReadableStream<Uint8Array> | undefined {
  const { encoding, delimiter, hasOnlyReturns, hiddenCharacters, mayHavePrefixes, hasEndMark } = format;
  const isPlain = !hasOnlyReturns && hiddenCharacters === 0 && !mayHavePrefixes && !hasEndMark;
  if (encoding === UTF_8 && isPlain) return undefined;
  return file
    .stream()
    .pipeThrough(new TextDecoderStream(encoding, { fatal: true }))
    .pipeThrough(createRepair(format))
    .pipeThrough(withoutEndMark())
    .pipeThrough(createCellRepair(delimiter))
    .pipeThrough(new TextEncoderStream());
}

/** What ends files of DOS, and what some programs still write. */
const END_MARK = "\u001A";

/** Where the end marks at the end of a text begin, which line ends may follow; -1 if there is none. */
function endMarkIn(text: string): number {
  let end = text.length;
  while (end > 0 && (text[end - 1] === END_MARK || text[end - 1]!.trim() === "")) end--;
  return text.indexOf(END_MARK, end);
}

/** Leaves out the end mark of a text that comes in pieces, and what follows it. Elsewhere the character stays. */
function withoutEndMark(): TransformStream<string, string> {
  let held = "";
  return new TransformStream({
    transform: (piece, controller) => {
      const text = held + piece;
      const at = endMarkIn(text);
      held = at === -1 ? "" : text.slice(at);
      controller.enqueue(at === -1 ? text : text.slice(0, at));
    },
  });
}
