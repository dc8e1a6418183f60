import type { RuntimeWith } from "../../aws/runtime.ts";
import { countOf, epochOf, type UploadJob, type UploadPart } from "../job/upload-record.ts";
import { beginPiecewiseObject, type PiecewiseObject } from "./piecewise-object.ts";
import { ROW_LISTS, type RowList, type RowListName } from "./row-list.ts";
import { type Frame, frameAt, frameBytes } from "./segment.ts";
import { ObjectGoneError, type UploadObjects } from "./upload-objects.ts";

/** Bytes of lines after which the time is read again. */
const BYTES_PER_CLOCK = 64 * 1024;
/** Buffers grow to multiples of this size. */
const BUFFER_STEP_BYTES = 16 * 1024;

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
function emptyContent() {
  return {
    /** Number of listed rows. */
    rows: 0,
    /** Whether rows are missing because their objects were deleted before. */
    hasGaps: false,
  };
}
/** The content of a list. */
export type ListContent = ReturnType<typeof emptyContent>;

/** The lines of one part, in file order. */
interface LineReader {
  /** The first line that was not taken; undefined after the last. */
  readonly head: () => Frame | undefined;
  /** Takes the head. Loads more lines if there are none left in memory. */
  readonly take: () => Promise<void> | undefined;
}

/** Loads objects, one after the other, into a buffer that is used again; each is valid until the next is loaded. */
function createLoader(objects: UploadObjects) {
  let buffer: Buffer = Buffer.alloc(0);
  return async (key: string): Promise<Buffer> => {
    let size = 0;
    for await (const chunk of objects.read(key)) {
      const needed = size + chunk.length;
      if (needed > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(Math.ceil(needed / BUFFER_STEP_BYTES) * BUFFER_STEP_BYTES);
        buffer.copy(larger, 0, 0, size);
        buffer = larger;
      }
      buffer.set(chunk, size);
      size = needed;
    }
    return buffer.subarray(0, size);
  };
}

/** Reads the lines of one part. The next object is loaded while the lines of one are read. */
async function createReader(
  objects: UploadObjects,
  list: RowList,
  job: UploadJob,
  part: UploadPart,
  content: ListContent,
): Promise<LineReader> {
  const runs = list.objectsOf(part);
  const count = countOf(runs);
  const loaders = [createLoader(objects), createLoader(objects)] as const;
  const load = async (index: number): Promise<Buffer | undefined> => {
    if (index >= count) return undefined;
    try {
      return await loaders[index % 2 === 0 ? 0 : 1](list.objectKey(job, part.number, epochOf(runs, index), index));
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
}

/** Adds the lines of all readers to the list, in file order. @throws ListUnfinishedError */
async function merge(
  readers: readonly LineReader[],
  merged: PiecewiseObject,
  time: ListTime,
  content: ListContent,
): Promise<void> {
  const rows = readers.map((reader) => reader.head()?.row ?? Infinity);
  let sinceClock = 0;
  for (;;) {
    let next = 0;
    for (let index = 1; index < rows.length; index++) if (rows[index]! < rows[next]!) next = index;
    const reader = readers[next];
    const head = reader?.head();
    if (!reader || !head) return;
    const sending = merged.append(head.raw);
    if (sending) await sending;
    content.rows++;
    sinceClock += head.raw.length;
    const loading = reader.take();
    if (loading) await loading;
    rows[next] = reader.head()?.row ?? Infinity;
    if (sinceClock < BYTES_PER_CLOCK) continue;
    sinceClock = 0;
    if (!time.isOver()) continue;
    if (time.abridge) return;
    throw new ListUnfinishedError();
  }
}

/**
 * Merges the lines of all parts into one of the job's lists. The same parts give the same list unless it is abridged.
 * @throws ListUnfinishedError
 */
export function createWriteList(runtime: RuntimeWith<"uploads">, objects: UploadObjects) {
  return async (
    name: RowListName,
    job: UploadJob,
    parts: readonly UploadPart[],
    time: ListTime,
  ): Promise<ListContent> => {
    const list: RowList = ROW_LISTS[name];
    const content = emptyContent();
    const readers = await Promise.all(parts.map((part) => createReader(objects, list, job, part, content)));
    const merged = beginPiecewiseObject(runtime, list.key(job), "text/csv; charset=utf-8");
    await merged.append(Buffer.from(list.header(job)));
    await merge(readers, merged, time, content);
    await merged.end();
    return content;
  };
}

/** Writes a list of a job. */
export type WriteList = ReturnType<typeof createWriteList>;

/** For functions that leave the lists to a worker. @throws ListUnfinishedError */
export const leaveToWorker: WriteList = () => Promise.reject(new ListUnfinishedError());
