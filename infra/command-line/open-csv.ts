import { createReadStream, createWriteStream, openAsBlob } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { readCsv } from "../../lib/uploads/csv/csv-reader.ts";
import type { Delimiter } from "../../lib/uploads/csv/delimiter.ts";
import { assertCsv } from "../../lib/uploads/csv/file-kind.ts";
import { delimiterIn } from "../../lib/uploads/mapping/propose-mapping.ts";
import { CommandError } from "./service-client.ts";

const HEAD_BYTES = 64 * 1024;
const UTF_8 = "utf-8";
/** Encodings by the marks with which files begin. */
const MARKS: readonly (readonly [mark: readonly number[], encoding: string])[] = [
  [[0xff, 0xfe], "utf-16le"],
  [[0xfe, 0xff], "utf-16be"],
];

/** A CSV file as UTF-8. */
export interface CsvFile {
  readonly blob: Blob;
  /** Of the file itself. */
  readonly encoding: string;
  /** Deletes what was written for it. */
  readonly close: () => Promise<void>;
}

const headOf = async (path: string): Promise<Buffer> => {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
};

const isUtf8 = async (path: string): Promise<boolean> => {
  const decoder = new TextDecoder(UTF_8, { fatal: true });
  try {
    for await (const chunk of createReadStream(path)) decoder.decode(chunk as Buffer, { stream: true });
    decoder.decode();
    return true;
  } catch {
    return false;
  }
};

/** The encoding of a file: by its mark, by the zeros of UTF-16, else UTF-8 if it is, else Windows-1252. */
const encodingOf = async (path: string, head: Buffer): Promise<string> => {
  const marked = MARKS.find(([mark]) => mark.every((byte, at) => head[at] === byte));
  if (marked) return marked[1];
  const start = head.subarray(0, 200);
  if (start.length > 1 && start.includes(0)) {
    const zeroAt = start.findIndex((byte) => byte === 0);
    return zeroAt % 2 === 1 ? "utf-16le" : "utf-16be";
  }
  return (await isUtf8(path)) ? UTF_8 : "windows-1252";
};

/** Writes a file as UTF-8 with LF into a temporary folder. */
const convert = async (path: string, encoding: string, hasLineFeeds: boolean): Promise<CsvFile> => {
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    decoder = new TextDecoder(encoding);
  } catch {
    throw new CommandError(`${encoding} is no encoding that is known; try utf-8, utf-16le or windows-1252`);
  }
  const folder = await mkdtemp(join(tmpdir(), "work-items-"));
  const converted = join(folder, "file.csv");
  const textOf = (bytes?: Buffer): string => {
    const text = decoder.decode(bytes, { stream: bytes !== undefined });
    return hasLineFeeds ? text : text.replaceAll("\r", "\n");
  };
  const toUtf8 = new Transform({
    transform: (chunk: Buffer, _encoding, done) => done(null, textOf(chunk)),
    flush: (done) => done(null, textOf()),
  });
  await pipeline(createReadStream(path), toUtf8, createWriteStream(converted));
  return {
    blob: await openAsBlob(converted),
    encoding,
    close: () => rm(folder, { recursive: true }),
  };
};

/**
 * Opens a CSV file in any usual encoding.
 * @param encoding a label of the Encoding Standard; found out if it is not given
 * @throws CommandError, InvalidFileError if it is no CSV file
 */
export const openCsv = async (path: string, encoding?: string): Promise<CsvFile> => {
  let head: Buffer;
  try {
    head = await headOf(path);
  } catch (error) {
    throw new CommandError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const found = encoding?.toLowerCase() ?? (await encodingOf(path, head));
  if (!found.startsWith("utf-16")) assertCsv(head);
  const hasLineFeeds = head.includes("\n") || !head.includes("\r");
  if ((found === UTF_8 || found === "utf8") && hasLineFeeds) {
    return { blob: await openAsBlob(path), encoding: UTF_8, close: async () => undefined };
  }
  return convert(path, found, hasLineFeeds);
};

/** The header of a file and its first rows. @throws InvalidFileError */
export const readSample = async (blob: Blob, given: Delimiter | undefined, rowsMax: number) => {
  const head = await blob.slice(0, HEAD_BYTES).text();
  const delimiter = given ?? delimiterIn(head.split("\n", 1)[0] ?? "");
  const rows: (readonly string[])[] = [];
  for await (const { records } of readCsv(Readable.fromWeb(blob.stream() as never), { delimiter })) {
    for (const record of records) rows.push(record.cells());
    if (rows.length > rowsMax) break;
  }
  const [names = [], ...others] = rows;
  return { names, rows: others.slice(0, rowsMax), delimiter };
};
