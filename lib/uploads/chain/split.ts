import { codeOf, isUnavailable } from "../../aws/error-codes.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { readCsv } from "../csv/csv-reader.ts";
import { InvalidFileError } from "../csv/invalid-file-error.ts";
import { type CsvFormat, delimiterOf, isHeader, readHeader, withoutHeader } from "../mapping/file-format.ts";
import { CHUNK_LAYOUT, ObjectGoneError, objectKeys, ObjectReplacedError } from "../files/upload-objects.ts";
import { shardCount, shardOf } from "../job/shard-record.ts";
import { isEnded, logFieldsOf, mappingOf, type UploadJob } from "../job/upload-record.ts";
import { CLAIM_MS, isRefusedForGood } from "../job/claim.ts";
import type { UploadStore } from "../job/upload-store.ts";
import { CHUNK_LIMITS, ChunkWriter, type ChunkWriterDependencies } from "./chunk-writer.ts";
import type { EndWithoutRows, FinishUpload } from "./finish.ts";
import { StoppedError } from "./keep-claim.ts";
import { freeAfterRefusal, type JobMessage, secondsAfterRefusal, type SendChunks, type SendJob } from "./messages.ts";
import { chunksOfUndo, ImportIncompleteError, sourceOfUndo } from "./undo-chunks.ts";

/** Workers that may die while they read a file. Then the job fails. */
const ATTEMPTS_MAX = 6;

/** The job's error if reading its file has permanently failed; undefined if it can be tried again. */
function permanentFailure(error: unknown): string | undefined {
  if (error instanceof InvalidFileError || error instanceof ImportIncompleteError) return error.message;
  if (error instanceof ObjectGoneError) return "the file was deleted before it was read";
  if (error instanceof ObjectReplacedError) return "the file was replaced while it was read";
  return undefined;
}

/** Dependencies of `createSplitUpload`. */
export interface SplitDependencies extends ChunkWriterDependencies, Pick<RuntimeWith<never>, "log"> {
  /** Sends the job to the queue that this worker reads. */
  readonly sendSplit: SendJob;
  readonly sendChunks: SendChunks;
  readonly endWithoutRows: EndWithoutRows;
  readonly finish: FinishUpload;
}

/** What publishes a job. */
type PublishedFile = Parameters<UploadStore["publish"]>[1];

/**
 * Puts all rows of a job's file into chunks, in one run from its start to its end.
 * @throws InvalidFileError, ObjectGoneError, ObjectReplacedError, StoppedError
 */
async function splitFile(dependencies: SplitDependencies, job: UploadJob): Promise<PublishedFile> {
  const { objects, limits = CHUNK_LIMITS } = dependencies;
  const { source_etag: etag = "", source_size: size = 0 } = job;
  const shards = shardCount(size, limits.shardBytes);
  const writer = new ChunkWriter(dependencies, job, shards);
  const mapping = mappingOf(job);
  const source = objects.read(objectKeys.source(job), { to: size, etag });
  let format: CsvFormat | undefined;
  let lastRow = 0;
  for await (const batch of readCsv(source, { delimiter: delimiterOf(mapping) })) {
    for (const record of batch.records) {
      if (format === undefined) {
        if (isHeader(record, mapping)) format = readHeader(record, mapping);
        continue;
      }
      const cells = record.cells();
      if (format.reader.isEmpty(cells)) continue;
      const writing = writer.add(shardOf(format.reader.externalIdOf(cells), shards), record);
      if (writing) await writing;
    }
    lastRow = batch.row;
    await writer.keepClaim();
  }
  if (format === undefined) throw withoutHeader(lastRow, mapping);
  return { ...(await writer.end()), header: format.header, layout: CHUNK_LAYOUT };
}

/**
 * Makes the function that puts the rows of a job's file into chunks, publishes the job in one write, and then sends a message
 * for each shard's first chunk. No row is applied before that. The same file gives the same chunks, so a run can be repeated.
 * If the job is already in chunks and all its rows are counted, the function merges its lists and ends it.
 * @returns a function that takes the time at which lists end, in milliseconds since the epoch
 */
export function createSplitUpload(dependencies: SplitDependencies) {
  const { clock, log, store, objects, sendSplit, sendChunks, endWithoutRows, finish } = dependencies;

  /** After a temporary error. If the store refused, the run doesn't count as an attempt. */
  const giveBack = async (job: UploadJob, error: unknown): Promise<void> => {
    if (!isUnavailable(error)) throw error;
    const since = job.refused_since || clock();
    const delay = secondsAfterRefusal(since, clock());
    const isReleased = await store.release(job, freeAfterRefusal(clock(), delay)).then(
      () => true,
      () => false,
    );
    log.warn("the reading of a file waits for AWS", { ...logFieldsOf(job), reason: codeOf(error), isReleased });
    const { organization, id } = job;
    if (isReleased) await sendSplit({ organization, id }, delay);
    else await sendSplit({ organization, id, refused_since: since }, CLAIM_MS / 1000);
  };

  return async (message: JobMessage, handOverAt: number): Promise<void> => {
    const job = await store.readJob(message);
    if (!job || isEnded(job)) return;
    if (job.chunks) {
      const snapshot = await store.read(job);
      return snapshot && finish(snapshot, handOverAt);
    }
    if (job.stopping) return endWithoutRows(job);
    const wait = job.begins_at === undefined ? 0 : Date.parse(job.begins_at) - clock();
    if (wait > 0) return sendSplit(message, Math.ceil(wait / 1000));
    const undone = job.undo_of === undefined ? undefined : await store.read({ ...message, id: job.undo_of });
    const source = undone ? sourceOfUndo(undone) : await objects.head(objectKeys.source(job));
    if (!source) return endWithoutRows(job, "the file was deleted before it was read");
    if (source.size === 0 && !undone) return endWithoutRows(job, "the file is empty");
    if (job.source_etag !== undefined && job.source_etag !== source.etag) {
      return endWithoutRows(job, "the file was replaced while it was read");
    }
    if (job.split_attempts >= ATTEMPTS_MAX && message.refused_since === undefined) {
      return endWithoutRows(job, "the file could not be read after repeated tries");
    }
    if (isRefusedForGood(job, clock())) return endWithoutRows(job, "reading the file makes no progress");

    const claimed = await store.claim(job, { source, refusedSince: message.refused_since });
    if (claimed === undefined) return;
    try {
      const file = await (undone ? chunksOfUndo(objects, undone) : splitFile(dependencies, claimed));
      const published = await store.publish(claimed, file);
      if (published === undefined) return;
      log.info("file read", { ...logFieldsOf(published), rows: file.rows, chunks: file.chunks });
      const shards = file.chunks.flatMap((chunks, shard) => (chunks > 0 ? [{ shard, chunk: 0 }] : []));
      if (shards.length === 0) await endWithoutRows(published);
      else await sendChunks(published, shards);
    } catch (error) {
      if (error instanceof StoppedError) return;
      const failure = permanentFailure(error);
      if (failure === undefined) await giveBack(claimed, error);
      else await endWithoutRows(claimed, failure);
    }
  };
}
