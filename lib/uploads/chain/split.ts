import { codeOf, isUnavailable } from "../../aws/error-codes.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { type CsvRecord, readCsv } from "../csv/csv-reader.ts";
import { InvalidFileError } from "../csv/invalid-file-error.ts";
import type { RowReader } from "../csv/row-reader.ts";
import { delimiterOf, isHeader, readHeader, withoutHeader } from "../file-format.ts";
import { FrameWriter } from "../files/frames.ts";
import { ObjectGoneError, objectKeys, ObjectReplacedError, type UploadObjects } from "../files/upload-objects.ts";
import type { Mapping } from "../mapping/mapping.ts";
import {
  bucketCount,
  bucketOf,
  isEnded,
  isLarge,
  isRefusedForGood,
  logFieldsOf,
  mappingOf,
  type UploadJob,
} from "../job/upload-record.ts";
import { CLAIM_MS } from "../job/bucket-store.ts";
import type { UploadStore } from "../job/upload-store.ts";
import type { EndWithoutRows } from "./finish.ts";
import { type JobMessage, secondsAfterRefusal, type SendChunks, type SendJob } from "./messages.ts";

/** How a file is cut: the same one must always be cut in the same way (`objectKeys.chunk`). */
const CHUNK_LIMITS = {
  /** Size of a chunk: seconds of work. */
  rows: 10_000,
  bytes: 4 * 1024 * 1024,
  /** Bytes of a small file for each bucket: enough to be worth the overhead of one. */
  bucketBytes: 64 * 1024,
};
/** Workers that may die while they read a file. */
const ATTEMPTS_MAX = 6;
/** Time between the notes that a worker still reads the file. */
const NOTE_MS = CLAIM_MS / 3;

/** The job was stopped or published by another worker, or its organization is being erased: this worker must stop. */
class StoppedError extends Error {
  override readonly name: string = "StoppedError";
}

/** The job's error if reading its file has permanently failed; undefined if it can be tried again. */
function permanentFailure(error: unknown): string | undefined {
  if (error instanceof InvalidFileError) return error.message;
  if (error instanceof ObjectGoneError) return "the file was deleted before it was read";
  if (error instanceof ObjectReplacedError) return "the file was replaced while it was read";
  return undefined;
}

/** Dependencies of `createSplitUpload`. */
export interface SplitDependencies extends Pick<RuntimeWith<never>, "clock" | "log"> {
  readonly store: UploadStore;
  readonly objects: UploadObjects;
  /** @returns undefined for an organization that doesn't exist or is being erased, as a consistent read says */
  readonly findOrganization: (id: string) => Promise<unknown>;
  /** Sends the job to the queue that this worker reads. */
  readonly sendSplit: SendJob;
  /** Sends the job of a large file to workers of its own. @default this is one */
  readonly sendLarge?: SendJob;
  readonly sendChunks: SendChunks;
  readonly endWithoutRows: EndWithoutRows;
  /** @default CHUNK_LIMITS */
  readonly limits?: typeof CHUNK_LIMITS;
}

/** The rows of a bucket that are not in a chunk yet. */
interface OpenChunk {
  readonly frames: FrameWriter;
  rows: number;
  /** Number of chunks before this one. */
  number: number;
}

/** One worker's run through a file, from its start to its end. */
class SplitRun {
  readonly #with: SplitDependencies;
  readonly #job: UploadJob;
  readonly #limits: typeof CHUNK_LIMITS;
  readonly #buckets: readonly OpenChunk[];
  #reader: RowReader | undefined;
  #header = "";
  #rows = 0;
  #notedAt: number;

  constructor(dependencies: SplitDependencies, job: UploadJob) {
    this.#with = dependencies;
    this.#job = job;
    this.#limits = dependencies.limits ?? CHUNK_LIMITS;
    this.#buckets = Array.from({ length: bucketCount(job.source_size ?? 0, this.#limits.bucketBytes) }, () => ({
      frames: new FrameWriter(),
      rows: 0,
      number: 0,
    }));
    this.#notedAt = dependencies.clock();
  }

  /**
   * Puts all rows of the file into chunks.
   * @throws InvalidFileError, ObjectGoneError, ObjectReplacedError, StoppedError
   */
  async run() {
    const { source_etag: etag = "", source_size: size = 0 } = this.#job;
    const mapping = mappingOf(this.#job);
    const source = this.#with.objects.read(objectKeys.source(this.#job), { to: size, etag });
    let lastRow = 0;
    for await (const batch of readCsv(source, { delimiter: delimiterOf(mapping) })) {
      for (const record of batch.records) {
        const full = this.#add(record, mapping);
        if (full !== undefined) await this.#writeChunk(full);
      }
      lastRow = batch.position.row;
      await this.#note();
    }
    if (this.#reader === undefined) throw withoutHeader(lastRow, mapping);
    for (const [number, { rows }] of this.#buckets.entries()) if (rows > 0) await this.#writeChunk(number);
    const chunks = this.#buckets.map(({ number }) => number);
    return { chunks: this.#rows === 0 ? [] : chunks, header: this.#header, rows: this.#rows };
  }

  /** Adds a row to its bucket. @returns the number of the bucket if its chunk is full */
  #add(record: CsvRecord, mapping: Mapping | undefined): number | undefined {
    if (this.#reader === undefined) {
      if (isHeader(record, mapping)) ({ header: this.#header, reader: this.#reader } = readHeader(record, mapping));
      return undefined;
    }
    const cells = record.cells();
    if (this.#reader.isEmpty(cells)) return undefined;
    const number = bucketOf(this.#reader.externalIdOf(cells), this.#buckets.length);
    const bucket = this.#buckets[number]!;
    bucket.frames.add(record);
    bucket.rows++;
    this.#rows++;
    return bucket.rows >= this.#limits.rows || bucket.frames.length >= this.#limits.bytes ? number : undefined;
  }

  async #writeChunk(bucket: number): Promise<void> {
    const { objects, findOrganization } = this.#with;
    const open = this.#buckets[bucket]!;
    if ((await findOrganization(this.#job.organization)) === undefined) throw new StoppedError();
    await objects.write(objectKeys.chunk(this.#job, bucket, open.number), open.frames.bytes());
    open.frames.clear();
    open.rows = 0;
    open.number++;
  }

  async #note(): Promise<void> {
    const { clock, store } = this.#with;
    if (clock() < this.#notedAt + NOTE_MS) return;
    if (!(await store.noteSplit(this.#job))) throw new StoppedError();
    this.#notedAt = clock();
  }
}

/**
 * Makes the function that puts the rows of a job's file into chunks, then publishes the job in one write and sends the message of
 * each bucket's first chunk. No row is applied before that. The same file gives the same chunks, so that a run that is repeated
 * does no harm.
 */
export function createSplitUpload(dependencies: SplitDependencies) {
  const { clock, log, store, objects, sendSplit, sendLarge, sendChunks, endWithoutRows } = dependencies;

  const fail = async (job: UploadJob, error: string): Promise<void> => {
    await store.requestStop(job, "failed", { error, unlessPublished: true });
    await endWithoutRows(job);
  };

  /** After an error that another run may not have. If it was the store, the run is no failure. */
  const giveBack = async (job: UploadJob, error: unknown): Promise<void> => {
    if (!isUnavailable(error)) throw error;
    const since = job.refused_since || clock();
    const delay = secondsAfterRefusal(since, clock());
    const isReleased = await store.releaseSplit(job, clock() + delay * 500).then(
      () => true,
      () => false,
    );
    log.warn("the reading of a file waits for AWS", { ...logFieldsOf(job), reason: codeOf(error), isReleased });
    const { organization, id } = job;
    if (isReleased) await sendSplit({ organization, id }, delay);
    else await sendSplit({ organization, id, refused_since: since }, CLAIM_MS / 1000);
  };

  return async (message: JobMessage): Promise<void> => {
    const job = await store.readJob(message);
    if (!job || isEnded(job) || job.chunks) return;
    if (job.stopping) return endWithoutRows(job);
    const source = await objects.head(objectKeys.source(job));
    if (!source) return fail(job, "the file was deleted before it was read");
    if (source.size === 0) return fail(job, "the file is empty");
    if (job.source_etag !== undefined && job.source_etag !== source.etag) {
      return fail(job, "the file was replaced while it was read");
    }
    if (sendLarge && isLarge({ source_size: source.size })) return sendLarge(message);
    if (job.split_attempts >= ATTEMPTS_MAX && message.refused_since === undefined) {
      return fail(job, "the file could not be read after repeated tries");
    }
    if (isRefusedForGood(job, clock())) return fail(job, "reading the file makes no progress");

    const claimed = await store.claimSplit(job, source, message.refused_since);
    if (claimed === undefined) return;
    try {
      const file = await new SplitRun(dependencies, claimed).run();
      const published = await store.publish(claimed, file);
      if (published === undefined) return;
      log.info("file read", { ...logFieldsOf(published), rows: file.rows, chunks: file.chunks });
      const buckets = file.chunks.flatMap((chunks, bucket) => (chunks > 0 ? [{ bucket, chunk: 0 }] : []));
      if (buckets.length === 0) await endWithoutRows(published);
      else await sendChunks(published, buckets);
    } catch (error) {
      if (error instanceof StoppedError) return;
      const failure = permanentFailure(error);
      if (failure === undefined) await giveBack(claimed, error);
      else await fail(claimed, failure);
    }
  };
}
