import { codeOf, isUnavailable } from "../../aws/error-codes.ts";
import { ObjectGoneError } from "../files/upload-objects.ts";
import { CHUNK_ATTEMPTS_MAX, type UploadBucket } from "../job/bucket-record.ts";
import { isBusy, isRefusedForGood } from "../job/claim.ts";
import { isComplete, isDone, isEnded, logFieldsOf, type UploadJob } from "../job/upload-record.ts";
import { CLAIM_MS } from "../job/bucket-store.ts";
import { type ChunkDependencies, ChunkTurn, ClaimLostError } from "./chunk-turn.ts";
import type { FinishUpload } from "./finish.ts";
import { parseChunkMessage, secondsAfterRefusal, type SendChunks } from "./messages.ts";

/** A worker goes on for this long. Then it sends its bucket again, so that the jobs of others get their turn. */
const TURN_MS = 5_000;

/** Dependencies of `createApplyChunk`. */
export interface ApplyChunkDependencies extends ChunkDependencies {
  readonly sendChunks: SendChunks;
  readonly finish: FinishUpload;
  /** Called at the end of a turn with the number of rows that it counted. */
  readonly onEnd: (rows: number, job: UploadJob) => void;
}

/**
 * Makes the function that applies the chunk which a message names. A message that isn't about its bucket's next chunk, or finds
 * the bucket busy, is done with: duplicates do no harm, and the sweep sends what is missing.
 */
export function createApplyChunk(dependencies: ApplyChunkDependencies) {
  const { clock, log, store, findOrganization, sendChunks, finish, onEnd } = dependencies;

  const stop = async (job: UploadJob, bucket: UploadBucket, error: string): Promise<void> => {
    await store.requestStop(job, "failed", { error });
    await store.buckets.release(job, bucket);
  };

  /** After an error: fails the job, or gives the bucket back; if it was the store, a worker gets it again. */
  const giveBack = async (job: UploadJob, { bucket, rowsCounted }: ChunkTurn, error: unknown): Promise<void> => {
    if (error instanceof ObjectGoneError) return stop(job, bucket, "the file was deleted before all rows were applied");
    const now = clock();
    const since = (rowsCounted === 0 && bucket.refused_since) || now;
    const isRefused = isUnavailable(error);
    const delay = secondsAfterRefusal(since, now);
    // Half of the delay in milliseconds: the bucket is free before the message comes.
    const isReleased = await store.buckets
      .release(job, bucket, isRefused ? now + delay * 500 : 0)
      .catch((): boolean => false);
    if (error instanceof ClaimLostError) return;
    if (!isRefused) throw error;
    log.warn("a chunk waits for AWS", {
      ...logFieldsOf(job),
      bucket: bucket.number,
      reason: codeOf(error),
      isReleased,
    });
    const message = { bucket: bucket.number, chunk: bucket.next };
    if (isReleased) await sendChunks(job, [message], delay);
    else await sendChunks(job, [{ ...message, refused_since: since }], CLAIM_MS / 1000);
  };

  /** @returns the bucket after the turn; undefined if others deal with it */
  const takeTurn = async (
    job: UploadJob,
    bucket: UploadBucket,
    refusedSince: number | undefined,
    until: number,
    deadline: number,
  ): Promise<UploadBucket | undefined> => {
    const organization = await findOrganization(job.organization);
    if (organization === undefined) return undefined;
    const claimed = await store.buckets.claim(job, bucket, refusedSince === undefined ? {} : { refusedSince });
    if (claimed === undefined) return undefined;
    if (claimed.attempts > CHUNK_ATTEMPTS_MAX || isRefusedForGood(claimed, clock())) {
      await stop(job, claimed, `applying the rows after row ${claimed.after} makes no progress`);
      return undefined;
    }
    const turn = new ChunkTurn(dependencies, job, organization, claimed, deadline);
    try {
      await turn.apply(until);
      return turn.bucket;
    } catch (error) {
      await giveBack(job, turn, error);
      return undefined;
    } finally {
      if (turn.rowsCounted > 0) {
        log.info("rows applied", { ...logFieldsOf(job), bucket: bucket.number, rows: turn.rowsCounted });
        onEnd(turn.rowsCounted, job);
      }
    }
  };

  return async (body: string, handOverAt: number): Promise<void> => {
    const message = parseChunkMessage(body);
    const until = Math.min(clock() + TURN_MS, handOverAt);
    for (let { chunk, refused_since: refusedSince } = message; ; refusedSince = undefined) {
      const snapshot = await store.read(message);
      if (!snapshot?.job.chunks || isEnded(snapshot.job)) return;
      const { job, buckets } = snapshot;
      const bucket = buckets[message.bucket];
      if (job.stopping || isComplete(snapshot)) return finish(snapshot, handOverAt);
      if (bucket === undefined || bucket.next !== chunk || isDone(job, bucket) || isBusy(bucket, clock())) return;
      const after = await takeTurn(job, bucket, refusedSince, until, handOverAt);
      if (after !== undefined && !after.stop && !isDone(job, after) && clock() >= until) {
        return sendChunks(job, [{ bucket: after.number, chunk: after.next }]);
      }
      // The job may have stopped, or be complete.
      chunk = after?.next ?? -1;
    }
  };
}
