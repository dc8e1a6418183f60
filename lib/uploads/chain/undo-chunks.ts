import { delimiterOf } from "../mapping/file-format.ts";
import { readRows } from "../files/frames.ts";
import { objectKeys, type UploadObjects } from "../files/upload-objects.ts";
import { chunkSource, mappingOf, type UploadSnapshot } from "../job/upload-record.ts";

/** The file of an undo, as its job records it: that of the undone job. */
export function sourceOfUndo({ job }: UploadSnapshot) {
  const { source_etag: etag = "", source_size: size = 0, source_written_at: at = job.created_at } = job;
  return { etag, size, writtenAt: new Date(at) };
}

/**
 * The chunks that an undo goes through: those of its import, up to the next one of each shard, which may be partly applied.
 * @throws ObjectGoneError if one was deleted
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
