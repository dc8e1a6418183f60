import { RecordEnds } from "@work-items/lib/uploads/csv/csv-text.ts";
import { mayNeedRepair } from "./cell-values.ts";
import { StrictDecoder } from "../letters/encodings.ts";

/** How the rows of a text are cut. */
export interface RowLayout {
  /** Whether rows end with CR alone, as on an old Macintosh. */
  readonly hasOnlyReturns: boolean;
  /** Number of characters of a first line such as `sep=;`, which sets Excel's delimiter and which Excel hides. */
  readonly hiddenCharacters: number;
}

/** What is found by reading a file to its end. */
export interface WholeText {
  /** Whether there may be cells with a prefix or a text written as a formula, rows that end with CR CR LF, or an end of file. */
  readonly mayNeedRepair: boolean;
  /** Offset of the first chunk that isn't text in the encoding; undefined if there is none. */
  readonly brokenFrom: number | undefined;
}

/** The end-of-file character of DOS, which some programs still write. */
const END_OF_FILE = "\u001A";

/** Index of the end-of-file characters that end a text, apart from line ends; -1 if there are none. */
export function endOfFileIn(text: string): number {
  let end = text.length;
  while (end > 0 && (text[end - 1] === END_OF_FILE || text[end - 1]!.trim() === "")) end--;
  return text.indexOf(END_OF_FILE, end);
}

/** The characters among which it is searched. */
const END_CHARACTERS = 8;

async function* chunksOf(file: Blob): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel();
  }
}

/** Reads a file to its end, or to the first chunk that isn't text in its encoding. */
export async function readWhole(file: Blob, encoding: string): Promise<WholeText> {
  const decoder = new StrictDecoder(encoding);
  let isOdd = false;
  let last = "";
  let offset = 0;
  try {
    for await (const bytes of chunksOf(file)) {
      const read = last + decoder.decode(bytes);
      isOdd ||= mayNeedRepair(read);
      last = read.slice(-END_CHARACTERS);
      offset += bytes.length;
    }
    decoder.decode();
    return { mayNeedRepair: isOdd || endOfFileIn(last) !== -1, brokenFrom: undefined };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // It isn't read, or is in another encoding.
    return { mayNeedRepair: true, brokenFrom: offset };
  }
}

/** Makes the function that takes the pieces of a text and says in which row it ends so far, as a spreadsheet shows it. */
function rowCounter({ hasOnlyReturns, hiddenCharacters }: RowLayout): (text: string) => number {
  const ends = new RecordEnds();
  let row = hiddenCharacters > 0 ? 0 : 1;
  return (text) => (row += ends.next(hasOnlyReturns ? text.replaceAll("\r", "\n") : text).length);
}

/** Finds the first byte that isn't text in the encoding, and its row. @param brokenFrom offset of its chunk */
export async function findBadByte(
  file: Blob,
  encoding: string,
  brokenFrom: number,
  layout: RowLayout,
): Promise<{ readonly row: number; readonly offset: number }> {
  const decoder = new StrictDecoder(encoding);
  const rowAfter = rowCounter(layout);
  let offset = brokenFrom;
  for await (const bytes of chunksOf(file.slice(0, brokenFrom))) rowAfter(decoder.decode(bytes));
  try {
    for await (const bytes of chunksOf(file.slice(brokenFrom))) {
      for (let at = 0; at < bytes.length; at++, offset++) rowAfter(decoder.decode(bytes.subarray(at, at + 1)));
    }
    decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  return { row: rowAfter(""), offset };
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Lines that are taken whatever bytes they have. */
const FIRST_LINES = 50;
const LINE_MAX_BYTES = 16 * 1024;

/** The line around an offset, without its end. */
async function lineAt(file: Blob, offset: number): Promise<Uint8Array> {
  const start = Math.max(0, offset - LINE_MAX_BYTES);
  const bytes = new Uint8Array(await file.slice(start, offset + LINE_MAX_BYTES).arrayBuffer());
  const isEnd = (byte: number): boolean => byte === LINE_FEED || byte === CARRIAGE_RETURN;
  const before = bytes.subarray(0, offset - start).findLastIndex(isEnd) + 1;
  const after = bytes.subarray(offset - start).findIndex(isEnd);
  return bytes.subarray(before, after === -1 ? bytes.length : offset - start + after);
}

/**
 * Lines that show a file's encoding: the one around an offset, the first lines with telling bytes, and each line where
 * a telling byte occurs for the first time, so that every letter by which encodings differ is among them.
 * @param isTelling whether a byte has another meaning in another encoding
 */
export async function sampleLines(
  file: Blob,
  offset: number,
  isTelling: (byte: number) => boolean,
): Promise<Uint8Array[]> {
  const offsets: number[] = [];
  const found = new Set<number>();
  let start = 0;
  let lineOfLast = -1;
  let line = 0;
  for await (const bytes of chunksOf(file)) {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === LINE_FEED || byte === CARRIAGE_RETURN) line++;
      else if (isTelling(byte) && (!found.has(byte) || offsets.length < FIRST_LINES)) {
        found.add(byte);
        if (line !== lineOfLast) offsets.push(start + at);
        lineOfLast = line;
      }
    }
    start += bytes.length;
  }
  return Promise.all([offset, ...offsets].map((each) => lineAt(file, each)));
}
