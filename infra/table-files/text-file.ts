import { type Delimiter, DELIMITERS } from "../../lib/uploads/csv/delimiter.ts";
import { isUnlike1252, utf16Of } from "../../lib/uploads/csv/file-kind.ts";
import { delimiterIn } from "../../lib/uploads/mapping/find-delimiter.ts";
import { createPrefixRemoval, mayHavePrefix } from "./cell-prefix.ts";

/** What is sent. */
export const UTF_8 = "utf-8";
/** What a file is that is neither UTF-8 nor UTF-16: nearly always, and every text is one. */
const OTHERWISE = "windows-1252";

/** So much of a file is looked at to know how it is written. */
export const HEAD_BYTES = 512 * 1024;

/** How a text file with a table is written. */
export interface TextFormat {
  /** A label of the Encoding Standard. */
  readonly encoding: string;
  readonly delimiter: Delimiter;
  /** Whether the encoding is only a guess that some of the bytes speak against. */
  readonly isEncodingUnclear: boolean;
  /** Whether rows end with CR alone, as on an old Macintosh. */
  readonly hasOnlyReturns: boolean;
  /** Number of characters of a first line such as `sep=;`, which tells Excel the delimiter and which Excel hides. */
  readonly hiddenCharacters: number;
  /** Whether there may be cells with the prefix of an export. */
  readonly mayHavePrefixes: boolean;
}

/** What a file that is UTF-8 holds; undefined if it is not UTF-8. */
async function readUtf8(file: Blob): Promise<Pick<TextFormat, "mayHavePrefixes"> | undefined> {
  const decoder = new TextDecoder(UTF_8, { fatal: true });
  const reader = file.stream().getReader();
  let mayHavePrefixes = false;
  let last = "";
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const text = last + decoder.decode(read.value, { stream: true });
      mayHavePrefixes ||= mayHavePrefix(text);
      last = text.slice(-1);
    }
    decoder.decode();
    return { mayHavePrefixes };
  } catch {
    await reader.cancel();
    return undefined;
  }
}

const HIDDEN_LINE = /^sep=(.?)(?:\r\n|\n|\r)/i;
/** So many characters of a file show its delimiter. */
const DELIMITER_CHARACTERS = 64 * 1024;

/**
 * Finds out how a file is written. It is read to its end only where that distinguishes UTF-8 from other encodings.
 * @param known what is not to be found out
 * @throws RangeError if the known encoding doesn't exist
 */
export async function findTextFormat(
  file: Blob,
  known: { readonly encoding?: string | undefined; readonly delimiter?: Delimiter | undefined } = {},
): Promise<TextFormat> {
  const bytes = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  const likely = known.encoding ?? utf16Of(bytes) ?? UTF_8;
  const utf8 = likely === UTF_8 ? await readUtf8(file) : undefined;
  const encoding = known.encoding ?? (likely === UTF_8 && !utf8 ? OTHERWISE : likely);
  const isGuess = known.encoding === undefined && encoding === OTHERWISE;
  const text = new TextDecoder(encoding).decode(bytes, { stream: true });
  const [hidden = "", told = ""] = HIDDEN_LINE.exec(text) ?? [];
  const unquoted = text.replaceAll(/"(?:""|[^"])*"/g, "");
  const hasOnlyReturns = unquoted.includes("\r") && !unquoted.includes("\n");
  const start = text.slice(hidden.length, DELIMITER_CHARACTERS);
  return {
    encoding,
    isEncodingUnclear: isGuess && isUnlike1252(bytes),
    delimiter: known.delimiter ?? (told in DELIMITERS ? (told as Delimiter) : delimiterIn(start)),
    hasOnlyReturns,
    hiddenCharacters: hidden.length,
    // All other files are converted anyway.
    mayHavePrefixes: utf8?.mayHavePrefixes ?? true,
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
 * The file as UTF-8 whose rows end with LF or CRLF, whose row 1 is the header and whose cells have no prefix of an
 * export; undefined if it is so already.
 */
export function toUtf8(file: Blob, format: TextFormat): ReadableStream<Uint8Array> | undefined {
  const { encoding, delimiter, hasOnlyReturns, hiddenCharacters, mayHavePrefixes } = format;
  if (encoding === UTF_8 && !hasOnlyReturns && hiddenCharacters === 0 && !mayHavePrefixes) return undefined;
  return file
    .stream()
    .pipeThrough(new TextDecoderStream(encoding))
    .pipeThrough(createRepair(format))
    .pipeThrough(createPrefixRemoval(delimiter))
    .pipeThrough(new TextEncoderStream());
}
