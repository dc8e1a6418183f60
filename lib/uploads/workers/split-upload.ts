import { codeOf, isUnavailable } from "../../aws/error-codes.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { HeldError } from "../../aws/queue-worker.ts";
import { delimiterOf, readHeader } from "../file-format.ts";
import { readCsv } from "../csv/csv-reader.ts";
import { InvalidFileError } from "../csv/invalid-file-error.ts";
import { createSegmentWriter } from "../files/segment.ts";
import type { FinishUpload } from "./finish-upload.ts";
import { retryOf, type SendParts, type SendSplit, type SplitMessage, startOfPart } from "./upload-messages.ts";
import { ObjectGoneError, objectKeys, ObjectReplacedError, type UploadObjects } from "../files/upload-objects.ts";
import { formatOfJob, mappingOf } from "../job/job-format.ts";
import {
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

/** The job's error if splitting has permanently failed; undefined if it can be tried again. */
const permanentFailure = (error: unknown): string | undefined => {
  if (error instanceof InvalidFileError) return error.message;
  if (error instanceof ObjectGoneError) return "the file was deleted before it was read";
  if (error instanceof ObjectReplacedError) return "the file was replaced while it was read";
  return undefined;
};

const toProgress = ({ offset, row, rows, segments, header }: SplitProgress): SplitProgress => ({
  offset,
  row,
  rows,
  segments,
  header,
});

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

/**
 * Splits a job's file into parts: streams it once, writes segments, then publishes all parts in one write and sends the
 * messages of the first ones. No row is applied before that.
 * @param handOverAt when to hand over to another worker, in milliseconds since the epoch
 * @throws HeldError if another worker holds the job's lease
 */
export const createSplitUpload = (dependencies: SplitDependencies) => {
  const { clock, log, store, objects, sendSplit, sendParts, finish, limits = SPLIT_LIMITS } = dependencies;

  /** Writes segments from the checkpoint on. @returns null if the rest was handed over to another worker */
  const split = async (claimed: Claimed<UploadJob>, handOverAt: number): Promise<Claimed<UploadJob> | null> => {
    let job = claimed;
    const parts = job.part_count ?? 1;
    const segment = createSegmentWriter(parts);
    const mapping = mappingOf(job);
    let reader = job.header === "" ? undefined : formatOfJob(job).reader;
    let progress: SplitProgress = job;
    let savedAt = clock();

    const writeSegment = async (): Promise<void> => {
      if (segment.size() === 0) return;
      await objects.write(objectKeys.segment(job, job.epoch, countOf(progress.segments)), segment.take());
      progress = { ...progress, segments: withNext(progress.segments, job.epoch) };
    };

    const { source_etag: etag = "", source_size: size = 0 } = job;
    const source = objects.read(objectKeys.source(job), { from: job.offset, to: size, etag });
    for await (const { records, position } of readCsv(source, { start: job, delimiter: delimiterOf(mapping) })) {
      let { rows, header } = progress;
      for (const record of records) {
        if (record.row === 1) {
          ({ header, reader } = readHeader(record, mapping));
          continue;
        }
        if (reader === undefined) continue;
        const first = record.cells(reader.idWidth);
        if (reader.isEmpty(first) && reader.isEmpty(record.cells())) continue;
        segment.add(partOf(reader.externalIdOf(first), parts), record);
        rows++;
      }
      progress = { ...progress, ...position, rows, header };
      const isLate = clock() >= handOverAt;
      if (segment.size() < limits.segmentBytes && clock() < savedAt + CHECKPOINT_MS && !isLate) continue;
      await writeSegment();
      job = await store.saveSplit(job, toProgress(progress));
      savedAt = clock();
      if (!isLate) continue;
      await store.releaseSplit(job);
      await sendSplit(job);
      return null;
    }
    if (progress.row === 0) throw new InvalidFileError("the file is empty");
    await writeSegment();
    return store.publish(job, toProgress(progress));
  };

  /** Number of parts: at most `PARTS_IN_FLIGHT`, or for a large file a multiple of it, so that no part runs alone. */
  const partCount = (bytes: number): number => {
    const rounds = Math.ceil(bytes / limits.largePartBytes / PARTS_IN_FLIGHT);
    return rounds > 1
      ? Math.min(PARTS_MAX, rounds * PARTS_IN_FLIGHT)
      : Math.min(PARTS_IN_FLIGHT, Math.ceil(bytes / limits.partBytes));
  };

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
    if (!source) return fail(job, "the file was deleted before it was read");
    if (source.size === 0) return fail(job, "the file is empty");
    if (job.source_etag !== undefined && job.source_etag !== source.etag) {
      return fail(job, "the file was replaced while it was read");
    }

    const claim = await store.claimSplit(job, {
      ...source,
      parts: job.part_count ?? partCount(source.size),
      unreleasedSince: message.unreleased_since,
    });
    if (claim.state === "refused") {
      if (isEnded(claim.record) || claim.record.published || claim.record.stopping) return;
      throw new HeldError("the file is being split");
    }
    const { record } = claim;
    if (isStuck(record, clock())) return fail(record, "reading the file makes no progress");
    try {
      const published = await split(record, handOverAt);
      if (!published) return;
      const first = Array.from({ length: Math.min(PARTS_IN_FLIGHT, published.part_count ?? 0) }, (_, number) => number);
      await sendParts(published, first.map(startOfPart));
      if (first.length === 0) await finish(published);
    } catch (error) {
      const failure = permanentFailure(error);
      if (failure !== undefined) return fail(record, failure);
      if (error instanceof LeaseLostError) throw error;
      const isBusy = isUnavailable(error);
      const waiting = { ...record, busy_since: record.busy_since || clock() };
      const isReleased = await store.releaseSplit(waiting, isBusy).then(
        () => true,
        () => false,
      );
      if (!isReleased) log.warn("could not release a split", { job: record.id });
      if (!isBusy) throw error;
      log.warn("a split waits for the store", { job: record.id, reason: codeOf(error) });
      const { sent, delaySeconds } = retryOf(waiting, clock(), isReleased);
      await sendSplit(sent, delaySeconds);
    }
  };
};
