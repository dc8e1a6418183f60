import { delimiterOf } from "../mapping/file-format.ts";
import { readRows } from "../files/frames.ts";
import { objectKeys, type UploadObjects } from "../files/upload-objects.ts";
import { chunkSource, isSettled, mappingOf, type UploadSnapshot } from "../job/upload-record.ts";

/** The file of an undo, as its job records it: that of the undone job. */
export function sourceOfUndo({ job }: UploadSnapshot) {
  const { source_etag: etag = "", source_size: size = 0, source_written_at: at = job.created_at } = job;
  return { etag, size, writtenAt: new Date(at) };
}

/** What an import has left doesn't say which rows it applied. */
export class ImportIncompleteError extends Error {
  override readonly name = "ImportIncompleteError";
}

/** Checks that an import that has ended still has the records of its shards, and that they have all rows. */
function assertWhole({ job, shards }: UploadSnapshot, rows: number): void {
  // While a job runs, a shard without a record is one that hasn't been claimed yet. It ends only once all are done or closed.
  const missing = shards.filter((shard) => !isSettled(job, shard)).map(({ number }) => number);
  if (missing.length > 0) {
    throw new ImportIncompleteError(
      `the import's records of shards ${missing.join(", ")} are missing; nothing was undone`,
    );
  }
  const counted = job.succeeded_rows + job.failed_rows;
  if (job.status !== "completed" || rows === counted) return;
  throw new ImportIncompleteError(
    `the import counted ${counted} rows, and its chunks have ${rows}; nothing was undone`,
  );
}

/**
 * The chunks that an undo goes through: those of its import, up to the next one of each shard, which may be partly applied.
 * @throws ObjectGoneError if one was deleted; ImportIncompleteError
 */
export async function chunksOfUndo(objects: UploadObjects, undone: UploadSnapshot) {
  const { job, shards } = undone;
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
  assertWhole(undone, rows);
  return { chunks: rows === 0 ? [] : chunks, header, layout, rows };
}
