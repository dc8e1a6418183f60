import { delimiterOf } from "../mapping/file-format.ts";
import { readRows } from "../files/frames.ts";
import { objectKeys, type UploadObjects } from "../files/upload-objects.ts";
import { CLAIM_MS } from "../job/shard-store.ts";
import { chunkSource, mappingOf, type UploadJob, type UploadSnapshot } from "../job/upload-record.ts";

/** When no worker of an ended import can write any more, in milliseconds since the epoch: each stops when its claim ends. */
export function undoBeginsAt({ updated_at: endedAt }: UploadJob): number {
  return Date.parse(endedAt) + CLAIM_MS;
}

/** What an undo reads in place of a file: as much as the undone job's. */
export function sourceOfUndo({ job }: UploadSnapshot) {
  return { etag: job.source_etag ?? "", size: job.source_size ?? 0, writtenAt: new Date(undoBeginsAt(job)) };
}

/**
 * The chunks that an undo goes through where they are: those of its import up to the one that was to come next, which
 * workers may have applied in part.
 * @throws ObjectGoneError if they were deleted
 */
export async function chunksOfUndo(objects: UploadObjects, { job, shards }: UploadSnapshot) {
  const { chunks: all = [], header, layout } = job;
  const chunks: number[] = [];
  let rows = 0;
  for (const { number, next, rows_before: before } of shards) {
    const has = all[number] ?? 0;
    chunks.push(Math.min(has, next + 1));
    rows += before;
    if (next >= has) continue;
    const source = objects.read(objectKeys.chunk(chunkSource(job), number, next));
    for await (const some of readRows(source, delimiterOf(mappingOf(job)))) rows += some.length;
  }
  return { chunks: rows === 0 ? [] : chunks, header, layout, rows };
}
