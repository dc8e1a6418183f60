import { crc32 } from "node:zlib";
import { cellValue } from "../csv/csv-text.ts";
import { formatOf } from "../file-format.ts";
import { readRows } from "../files/frames.ts";
import { objectKeys } from "../files/upload-objects.ts";
import { CLAIM_MS } from "../job/bucket-store.ts";
import { mappingOf, type UploadJob, type UploadSnapshot } from "../job/upload-record.ts";
import { CHUNK_LIMITS, ChunkWriter, type ChunkWriterDependencies } from "./chunk-writer.ts";

/** When no worker of an ended import can write any more, in milliseconds since the epoch: each stops when its claim ends. */
export function undoBeginsAt({ updated_at: endedAt }: UploadJob): number {
  return Date.parse(endedAt) + CLAIM_MS;
}

/** What an undo reads in place of a file: as much as the undone job's. */
export function sourceOfUndo({ job }: UploadSnapshot) {
  return { etag: job.source_etag ?? "", size: job.source_size ?? 0, writtenAt: new Date(undoBeginsAt(job)) };
}

/**
 * Puts one row for each item of an ended import into the chunks of its undo: the item's last row in the file. It reads the
 * chunks up to the one that was to come next, since workers may have applied that in part, and not the results, which lack it. The
 * same import gives the same chunks.
 * @throws ObjectGoneError if the import's chunks were deleted; StoppedError
 */
export async function splitUndo(dependencies: ChunkWriterDependencies, job: UploadJob, undone: UploadSnapshot) {
  const { objects, limits = CHUNK_LIMITS } = dependencies;
  const { chunks = [], header } = undone.job;
  const writer = new ChunkWriter(dependencies, job, chunks.length);
  if (chunks.length === 0) return { ...(await writer.end()), header };
  const { delimiter, reader } = formatOf(header, mappingOf(undone.job));
  for (const { number, next } of undone.buckets) {
    const applied = Math.min(chunks[number] ?? 0, next + 1);
    const passes = Math.ceil((applied * limits.bytes) / limits.passBytes);
    for (let pass = 0; pass < passes; pass++) {
      const lastRows = new Map<string, { readonly row: number; readonly text: string }>();
      for (let chunk = 0; chunk < applied; chunk++) {
        for await (const rows of readRows(objects.read(objectKeys.chunk(undone.job, number, chunk)), delimiter)) {
          for (const { row, text, cells } of rows) {
            const externalId = reader.externalIdOf(cells.map(cellValue));
            // The lowest bits have chosen the bucket.
            if (externalId === "" || (crc32(externalId) >>> 3) % passes !== pass) continue;
            // In the order of the last rows.
            lastRows.delete(externalId);
            lastRows.set(externalId, { row, text });
          }
          await writer.note();
        }
      }
      for (const { row, text } of lastRows.values()) {
        const writing = writer.add(number, { row, raw: Buffer.from(text) });
        if (writing) await writing;
      }
    }
  }
  return { ...(await writer.end()), header };
}
