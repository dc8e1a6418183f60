import { Readable } from "node:stream";
import { Upload } from "@aws-sdk/lib-storage";
import type { RuntimeWith } from "../../runtime/runtime.ts";
import { countOf, epochOf, type UploadJob, type UploadPart } from "../job/upload-record.ts";
import { ROW_LISTS, type RowList, type RowListName } from "./row-list.ts";
import { type Frame, frameAt, frameBytes } from "./segment.ts";
import { ObjectGoneError, type UploadObjects } from "./upload-objects.ts";

/** Size of the pieces of the list's multipart upload: the smallest that S3 accepts. */
const PIECE_BYTES = 5 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** Pieces that are sent at the same time. Each is held in memory, beside the one that is made. */
const PIECES_AT_ONCE = 1;

/** The time was too short for the whole list. */
export class ListUnfinishedError extends Error {
  override readonly name: string = "ListUnfinishedError";
}

/** How long writing a list may take. */
export interface ListTime {
  readonly isOver: () => boolean;
  /** Whether the list ends when the time is over; otherwise `ListUnfinishedError` is thrown. */
  readonly abridge: boolean;
}

/** What a list holds so far. */
const emptyContent = () => ({
  /** Number of listed rows. */
  rows: 0,
  /** Whether rows are missing because their objects were deleted before. */
  hasGaps: false,
});
/** The content of a list. */
export type ListContent = ReturnType<typeof emptyContent>;

/** The lines of one part, in file order. */
interface LineReader {
  /** The first line that was not taken; undefined after the last. */
  readonly head: () => Frame | undefined;
  /** Takes the head. Loads more lines if there are none left in memory. */
  readonly take: () => Promise<void> | undefined;
}

/** Reads the lines of one part. The next object is loaded while the lines of one are read. */
const createReader = async (
  objects: UploadObjects,
  list: RowList,
  job: UploadJob,
  part: UploadPart,
  content: ListContent,
): Promise<LineReader> => {
  const runs = list.objectsOf(part);
  const count = countOf(runs);
  const load = async (index: number): Promise<Buffer | undefined> => {
    if (index >= count) return undefined;
    try {
      return await objects.readWhole(list.objectKey(job, part.number, epochOf(runs, index), index));
    } catch (error) {
      if (!(error instanceof ObjectGoneError)) throw error;
      content.hasGaps = true;
      return Buffer.alloc(0);
    }
  };
  const begin = (index: number): Promise<Buffer | undefined> => {
    const loading = load(index);
    loading.catch(() => undefined); // the error is thrown by `await`
    return loading;
  };
  let index = 0;
  let loading = begin(0);
  // Frames are made one by one: those of all parts together would take many times the memory of their bytes.
  let bytes: Buffer = Buffer.alloc(0);
  let at = 0;
  let head: Frame | undefined;
  const fill = async (): Promise<void> => {
    while (at >= bytes.length) {
      const loaded = await loading;
      if (loaded === undefined) return;
      bytes = loaded;
      at = 0;
      loading = begin(++index);
    }
    head = frameAt(bytes, at);
  };
  await fill();
  return {
    head: () => head,
    take: () => {
      at += head === undefined ? 0 : frameBytes(head);
      head = frameAt(bytes, at);
      return head === undefined ? fill() : undefined;
    },
  };
};

/** The list in chunks, with the rows in file order. */
async function* linesOf(
  header: string,
  readers: readonly LineReader[],
  time: ListTime,
  content: ListContent,
): AsyncGenerator<Buffer> {
  const rows = readers.map((reader) => reader.head()?.row ?? Infinity);
  let chunk: Buffer[] = [Buffer.from(header)];
  let size = 0;
  for (;;) {
    let next = 0;
    for (let index = 1; index < rows.length; index++) if (rows[index]! < rows[next]!) next = index;
    const reader = readers[next];
    const head = reader?.head();
    if (reader && head) {
      chunk.push(head.raw);
      size += head.raw.length;
      content.rows++;
      const loading = reader.take();
      if (loading) await loading;
      rows[next] = reader.head()?.row ?? Infinity;
    }
    if (size < CHUNK_BYTES && head) continue;
    yield Buffer.concat(chunk);
    chunk = [];
    size = 0;
    if (!head) return;
    if (!time.isOver()) continue;
    if (time.abridge) return;
    throw new ListUnfinishedError();
  }
}

/**
 * Merges the lines of all parts into one of the job's lists. The same parts give the same list unless it is abridged.
 * @throws ListUnfinishedError
 */
export const createWriteList =
  ({ s3, environment }: RuntimeWith<"uploads">, objects: UploadObjects) =>
  async (name: RowListName, job: UploadJob, parts: readonly UploadPart[], time: ListTime): Promise<ListContent> => {
    const list: RowList = ROW_LISTS[name];
    const content = emptyContent();
    const readers = await Promise.all(parts.map((part) => createReader(objects, list, job, part, content)));
    await new Upload({
      client: s3,
      params: {
        Bucket: environment.UPLOADS_BUCKET,
        Key: list.key(job),
        Body: Readable.from(linesOf(list.header(job), readers, time, content)),
        ContentType: "text/csv; charset=utf-8",
      },
      partSize: PIECE_BYTES,
      queueSize: PIECES_AT_ONCE,
      // This function may not delete incomplete uploads; the bucket's lifecycle rule does.
      leavePartsOnError: true,
    }).done();
    return content;
  };

/** Writes a list of a job. */
export type WriteList = ReturnType<typeof createWriteList>;
