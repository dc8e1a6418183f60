import type { RuntimeWith } from "../../aws/runtime.ts";
import { claimsIn, type UploadShard } from "../job/shard-record.ts";
import type { UploadJob, UploadSnapshot } from "../job/upload-record.ts";
import { beginPiecewiseObject, type PiecewiseObject } from "./piecewise-object.ts";
import { ROW_LISTS, type RowListName } from "./row-list.ts";
import { type Frame, frameAt, frameBytes } from "./frames.ts";
import { ObjectGoneError, objectKeys, type UploadObjects } from "./upload-objects.ts";

/** Bytes of lines between two looks at the clock. */
const BYTES_PER_CLOCK = 64 * 1024;
/** Buffers grow to multiples of this size. */
const BUFFER_STEP_BYTES = 16 * 1024;

/** How long writing a list may take. */
export interface ListTime {
  /** Whether the list must end here. */
  readonly isOver: () => boolean;
  /** Called now and then while lines are merged. */
  readonly keepClaim: () => Promise<void>;
}

/** What a list holds. */
export interface ListContent {
  /** Number of listed rows. */
  readonly rows: number;
  /** Whether all lines that still exist are listed. False if the time was over before. */
  readonly isWhole: boolean;
}

/** The lines of one shard, in file order. */
interface LineReader {
  /** The first line that wasn't taken; undefined after the last. */
  readonly head: () => Frame | undefined;
  /** Takes the head. Loads more lines if there are none left in memory. */
  readonly take: () => Promise<void> | undefined;
}

/** Loads objects one after the other into one buffer. Each is valid until the next is loaded. */
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

/** Reads the lines of one shard. While the lines of one object are read, the next is loaded. */
async function createReader(
  objects: UploadObjects,
  name: RowListName,
  job: UploadJob,
  { number, counted }: UploadShard,
): Promise<LineReader> {
  const claims = claimsIn(counted);
  const loaders = [createLoader(objects), createLoader(objects)] as const;
  const load = async (index: number): Promise<Buffer | undefined> => {
    const claim = claims[index];
    if (claim === undefined) return undefined;
    try {
      return await loaders[index % 2 === 0 ? 0 : 1](objectKeys.lines(job, name, number, claim));
    } catch (error) {
      // No row of the claim belongs in this list, or its object was deleted.
      if (error instanceof ObjectGoneError) return Buffer.alloc(0);
      throw error;
    }
  };
  const begin = (index: number): Promise<Buffer | undefined> => {
    const loading = load(index);
    loading.catch(() => undefined); // the error is thrown by `await`
    return loading;
  };
  let index = 0;
  let loading = begin(0);
  // Frames are made one at a time: all of them would take many times the memory of their bytes.
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

/** Adds the lines of all readers to the list, in file order. */
async function merge(readers: readonly LineReader[], merged: PiecewiseObject, time: ListTime): Promise<ListContent> {
  const heads = readers.map((reader) => reader.head()?.row ?? Infinity);
  let rows = 0;
  let sinceClock = 0;
  for (;;) {
    let next = 0;
    for (let index = 1; index < heads.length; index++) if (heads[index]! < heads[next]!) next = index;
    const reader = readers[next];
    const head = reader?.head();
    if (!reader || !head) return { rows, isWhole: true };
    const sending = merged.append(head.raw);
    if (sending) await sending;
    rows++;
    sinceClock += head.raw.length;
    const loading = reader.take();
    if (loading) await loading;
    heads[next] = reader.head()?.row ?? Infinity;
    if (sinceClock < BYTES_PER_CLOCK) continue;
    sinceClock = 0;
    if (time.isOver()) return { rows, isWhole: false };
    await time.keepClaim();
  }
}

/**
 * Makes the function that merges the lines of all shards into one of the job's lists, until the time is over.
 * @param merged random id of this run, so that a worker that was frozen doesn't replace the list of another
 * @param mayEndEarly whether the list may contain only the first lines
 */
export function createWriteList(runtime: RuntimeWith<"uploads">, objects: UploadObjects) {
  return async (
    name: RowListName,
    { job, shards }: UploadSnapshot,
    merged: string,
    time: ListTime,
    mayEndEarly: boolean,
  ): Promise<ListContent> => {
    const readers = await Promise.all(shards.map((shard) => createReader(objects, name, job, shard)));
    const list = beginPiecewiseObject(runtime, objectKeys.list(job, name, merged), "text/csv; charset=utf-8");
    await list.append(Buffer.from(ROW_LISTS[name](job)));
    const content = await merge(readers, list, time);
    if (content.isWhole || mayEndEarly) await list.end();
    return content;
  };
}

/** Writes a list of a job. */
export type WriteList = ReturnType<typeof createWriteList>;
