import { codeOf, isUnavailable } from "../../aws/error-codes.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { HeldError } from "../../aws/queue-worker.ts";
import { delimiterOf, isHeader, readHeader, withoutHeader } from "../file-format.ts";
import { type CsvBatch, readCsv } from "../csv/csv-reader.ts";
import { InvalidFileError } from "../csv/invalid-file-error.ts";
import type { RowReader } from "../csv/row-reader.ts";
import { SegmentWriter } from "../files/segment.ts";
import type { FinishUpload } from "./finish-upload.ts";
import { retryOf, type SendParts, type SendSplit, type SplitMessage, startOfPart } from "./upload-messages.ts";
import { ObjectGoneError, objectKeys, ObjectReplacedError, type UploadObjects } from "../files/upload-objects.ts";
import { formatOfJob, mappingOf } from "../job/job-format.ts";
import type { Mapping } from "../mapping/mapping.ts";
import {
  logFieldsOf,
  countOf,
  isEnded,
  isStuck,
  type JobKey,
  LEASE_MS,
  partOf,
  PARTS_IN_FLIGHT,
  PARTS_MAX,
  type SplitProgress,
  type UploadJob,
  withNext,
} from "../job/upload-record.ts";
import { type Claimed, LeaseLostError, type UploadStore } from "../job/upload-store.ts";

const SPLIT_LIMITS = {
  /** Size of a segment, which limits the splitter's memory. Each part reads its block of every segment. */
  segmentBytes: 8 * 1024 * 1024,
  /** Bytes of the file for each part of a small file: enough to be worth the overhead of a part. */
  partBytes: 64 * 1024,
  /** Bytes of the file for each part of a large file: seconds of work, so that other jobs need not wait long. */
  largePartBytes: 1024 * 1024,
};
/** Time between checkpoints: short enough to keep the lease. */
const CHECKPOINT_MS = LEASE_MS / 3;

const FILE_DELETED = "the file was deleted before it was read";
const FILE_REPLACED = "the file was replaced while it was read";

/** The job's error if splitting has permanently failed; undefined if it can be tried again. */
function permanentFailure(error: unknown): string | undefined {
  if (error instanceof InvalidFileError) return error.message;
  if (error instanceof ObjectGoneError) return FILE_DELETED;
  if (error instanceof ObjectReplacedError) return FILE_REPLACED;
  return undefined;
}

function toProgress({ offset, row, rows, segments, header }: SplitProgress): SplitProgress {
  return { offset, row, rows, segments, header };
}

/** Dependencies of `createSplitUpload`. */
export interface SplitDependencies extends Pick<RuntimeWith<never>, "clock" | "log"> {
  readonly store: UploadStore;
  readonly objects: UploadObjects;
  readonly sendSplit: SendSplit;
  readonly sendParts: SendParts;
  readonly finish: FinishUpload;
  /** @default SPLIT_LIMITS */
  readonly limits?: typeof SPLIT_LIMITS;
}

/** One worker's work on the splitting of a file that it has claimed. */
class SplitRun {
  readonly #dependencies: SplitDependencies;
  readonly #limits: typeof SPLIT_LIMITS;
  /** When to hand over to another worker, in milliseconds since the epoch. */
  readonly #handOverAt: number;
  readonly #parts: number;
  readonly #segment: SegmentWriter;
  readonly #mapping: Mapping | undefined;
  #job: Claimed<UploadJob>;
  #reader: RowReader | undefined;
  #progress: SplitProgress;
  #savedAt: number;

  constructor(dependencies: SplitDependencies, job: Claimed<UploadJob>, handOverAt: number) {
    this.#dependencies = dependencies;
    this.#limits = dependencies.limits ?? SPLIT_LIMITS;
    this.#handOverAt = handOverAt;
    this.#parts = job.part_count ?? 1;
    this.#segment = new SegmentWriter(this.#parts);
    this.#mapping = mappingOf(job);
    this.#job = job;
    this.#reader = job.header === "" ? undefined : formatOfJob(job).reader;
    this.#progress = job;
    this.#savedAt = dependencies.clock();
  }

  /** Writes segments from the checkpoint on. Then it publishes the parts, or hands the rest over to another worker. */
  async run(): Promise<void> {
    const { clock, objects, store, sendSplit } = this.#dependencies;
    const { source_etag: etag = "", source_size: size = 0, offset: from } = this.#job;
    const source = objects.read(objectKeys.source(this.#job), { from, to: size, etag });
    for await (const batch of readCsv(source, { start: this.#job, delimiter: delimiterOf(this.#mapping) })) {
      this.#add(batch);
      const isLate = clock() >= this.#handOverAt;
      const isDue = this.#segment.size >= this.#limits.segmentBytes || clock() >= this.#savedAt + CHECKPOINT_MS;
      if (!isLate && !isDue) continue;
      await this.#writeSegment();
      this.#job = await store.saveSplit(this.#job, toProgress(this.#progress));
      this.#savedAt = clock();
      if (!isLate) continue;
      await store.releaseSplit(this.#job);
      await sendSplit(this.#job);
      return;
    }
    if (this.#reader === undefined) throw withoutHeader(this.#progress.row, this.#mapping);
    await this.#writeSegment();
    await this.#publish();
  }

  /** Adds rows to the segment. */
  #add({ records, position }: CsvBatch): void {
    let { rows, header } = this.#progress;
    for (const record of records) {
      if (this.#reader === undefined) {
        if (isHeader(record, this.#mapping)) ({ header, reader: this.#reader } = readHeader(record, this.#mapping));
        continue;
      }
      const cells = record.cells();
      if (this.#reader.isEmpty(cells)) continue;
      this.#segment.add(partOf(this.#reader.externalIdOf(cells), this.#parts), record);
      rows++;
    }
    this.#progress = { ...this.#progress, ...position, rows, header };
  }

  async #writeSegment(): Promise<void> {
    if (this.#segment.size === 0) return;
    const { epoch } = this.#job;
    const key = objectKeys.segment(this.#job, epoch, countOf(this.#progress.segments));
    await this.#dependencies.objects.write(key, this.#segment.take());
    this.#progress = { ...this.#progress, segments: withNext(this.#progress.segments, epoch) };
  }

  async #publish(): Promise<void> {
    const { log, store, sendParts, finish } = this.#dependencies;
    const published = await store.publish(this.#job, toProgress(this.#progress));
    const { total_rows: rows, part_count: parts } = published;
    log.info("file read", { ...logFieldsOf(published), rows, parts });
    const count = Math.min(PARTS_IN_FLIGHT, published.part_count ?? 0);
    await sendParts(
      published,
      Array.from({ length: count }, (_, number) => startOfPart(number)),
    );
    if (count === 0) await finish(published);
  }
}

/** Ends the claim after an error that another attempt may not have. If it was the store, another worker gets a message. */
async function giveBack(
  { clock, log, store, sendSplit }: SplitDependencies,
  job: Claimed<UploadJob>,
  error: unknown,
): Promise<void> {
  const isBusy = isUnavailable(error);
  const waiting = { ...job, busy_since: job.busy_since || clock() };
  const isReleased = await store.releaseSplit(waiting, isBusy).then(
    () => true,
    () => false,
  );
  if (!isReleased) log.warn("could not release a split", logFieldsOf(job));
  if (!isBusy) throw error;
  log.warn("a split waits for the store", { ...logFieldsOf(job), reason: codeOf(error) });
  const { sent, delaySeconds } = retryOf(waiting, clock(), isReleased);
  await sendSplit(sent, delaySeconds);
}

/** Number of parts: at most `PARTS_IN_FLIGHT`, or for a large file a multiple of it, so that no part runs alone. */
function partCount(bytes: number, { partBytes, largePartBytes }: typeof SPLIT_LIMITS): number {
  const rounds = Math.ceil(bytes / largePartBytes / PARTS_IN_FLIGHT);
  return rounds > 1
    ? Math.min(PARTS_MAX, rounds * PARTS_IN_FLIGHT)
    : Math.min(PARTS_IN_FLIGHT, Math.ceil(bytes / partBytes));
}

/**
 * Makes the function that splits a job's file into parts: streams it once, writes segments, then publishes all parts in one
 * write and sends the messages of the first ones. No row is applied before that.
 * @returns a function that throws HeldError if another worker holds the job's lease
 */
export function createSplitUpload(dependencies: SplitDependencies) {
  const { clock, store, objects, finish, limits = SPLIT_LIMITS } = dependencies;
  const fail = async (job: JobKey, error: string): Promise<void> => {
    await store.requestStop(job, "failed", { error, unlessPublished: true });
    await finish(job);
  };

  return async (message: SplitMessage, handOverAt: number): Promise<void> => {
    const job = await store.readJob(message);
    if (!job || isEnded(job)) return;
    if (job.stopping || job.published) {
      await finish(job);
      return;
    }
    const source = await objects.head(objectKeys.source(job));
    if (!source) return fail(job, FILE_DELETED);
    if (source.size === 0) return fail(job, "the file is empty");
    if (job.source_etag !== undefined && job.source_etag !== source.etag) return fail(job, FILE_REPLACED);

    const claim = await store.claimSplit(job, {
      ...source,
      parts: job.part_count ?? partCount(source.size, limits),
      unreleasedSince: message.unreleased_since,
    });
    const { record } = claim;
    if (claim.state === "refused") {
      if (isEnded(record) || record.published || record.stopping) return;
      throw new HeldError("the file is being split");
    }
    if (isStuck(record, clock())) return fail(record, "reading the file makes no progress");
    try {
      await new SplitRun(dependencies, claim.record, handOverAt).run();
    } catch (error) {
      const failure = permanentFailure(error);
      if (failure !== undefined) return fail(record, failure);
      if (error instanceof LeaseLostError) throw error;
      await giveBack(dependencies, claim.record, error);
    }
  };
}
