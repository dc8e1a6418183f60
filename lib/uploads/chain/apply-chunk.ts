import { codeOf, isUnavailable } from "../../aws/error-codes.ts";
import { ObjectGoneError } from "../files/upload-objects.ts";
import { CHUNK_ATTEMPTS_MAX, type UploadShard } from "../job/shard-record.ts";
import { CLAIM_MS, isBusy, isRefusedForGood } from "../job/claim.ts";
import { isComplete, isDone, isEnded, logFieldsOf, type UploadJob } from "../job/upload-record.ts";
import { type ChunkDependencies, ClaimedShard, ClaimLostError } from "./claimed-shard.ts";
import type { FinishUpload } from "./finish.ts";
import { freeAfterRefusal, parseChunkMessage, secondsAfterRefusal, type SendChunks } from "./messages.ts";

/** A worker applies a shard for this long. Then it sends the shard as a message again, so that other jobs get their turn. */
const HOLD_MS = 5_000;

/** Dependencies of `createApplyChunk`. */
export interface ApplyChunkDependencies extends ChunkDependencies {
  readonly sendChunks: SendChunks;
  readonly finish: FinishUpload;
  /** Called when a worker is done with a shard, with the number of rows that it counted. */
  readonly onEnd: (rows: number, job: UploadJob) => void;
}

/**
 * Makes the function that applies the chunk which a message names. It drops a message if the chunk isn't its shard's next one or
 * if the shard is busy: duplicates do no harm, and the sweep sends what is missing.
 */
export function createApplyChunk(dependencies: ApplyChunkDependencies) {
  const { clock, log, store, findOrganization, sendChunks, finish, onEnd } = dependencies;

  const stop = async (job: UploadJob, shard: UploadShard, error: string): Promise<void> => {
    await store.requestStop(job, "failed", { error });
    await store.shards.release(job, shard);
  };

  /** After an error: fails the job, or releases the shard. If the store refused, sends the shard as a message again. */
  const giveBack = async (
    job: UploadJob,
    { record: shard, rowsCounted }: ClaimedShard,
    error: unknown,
  ): Promise<void> => {
    if (error instanceof ObjectGoneError) return stop(job, shard, "the file was deleted before all rows were applied");
    const now = clock();
    const since = (rowsCounted === 0 && shard.refused_since) || now;
    const isRefused = isUnavailable(error);
    const delay = secondsAfterRefusal(since, now);
    const isReleased = await store.shards
      .release(job, shard, isRefused ? freeAfterRefusal(now, delay) : 0)
      .catch((): boolean => false);
    if (error instanceof ClaimLostError) return;
    if (!isRefused) throw error;
    log.warn("a chunk waits for AWS", {
      ...logFieldsOf(job),
      shard: shard.number,
      reason: codeOf(error),
      isReleased,
    });
    const message = { shard: shard.number, chunk: shard.next };
    if (isReleased) await sendChunks(job, [message], delay);
    else await sendChunks(job, [{ ...message, refused_since: since }], CLAIM_MS / 1000);
  };

  /** @returns the shard as it was saved last; undefined if this worker doesn't have it */
  const claimAndApply = async (
    job: UploadJob,
    shard: UploadShard,
    refusedSince: number | undefined,
    until: number,
    deadline: number,
  ): Promise<UploadShard | undefined> => {
    const organization = await findOrganization(job.organization);
    if (organization === undefined) return undefined;
    const claimed = await store.shards.claim(job, shard, refusedSince === undefined ? {} : { refusedSince });
    if (claimed === undefined) return undefined;
    if (claimed.attempts > CHUNK_ATTEMPTS_MAX || isRefusedForGood(claimed, clock())) {
      await stop(job, claimed, `applying the rows after row ${claimed.after} makes no progress`);
      return undefined;
    }
    const claimedShard = new ClaimedShard(dependencies, job, organization, claimed, deadline);
    try {
      await claimedShard.apply(until);
      return claimedShard.record;
    } catch (error) {
      await giveBack(job, claimedShard, error);
      return undefined;
    } finally {
      if (claimedShard.rowsCounted > 0) {
        log.info("rows applied", { ...logFieldsOf(job), shard: shard.number, rows: claimedShard.rowsCounted });
        onEnd(claimedShard.rowsCounted, job);
      }
    }
  };

  return async (body: string, handOverAt: number): Promise<void> => {
    const message = parseChunkMessage(body);
    const until = Math.min(clock() + HOLD_MS, handOverAt);
    let chunk: number | undefined = message.chunk;
    let refusedSince = message.refused_since;
    for (;;) {
      const snapshot = await store.read(message);
      if (!snapshot?.job.chunks || isEnded(snapshot.job)) return;
      const { job, shards } = snapshot;
      const shard = shards[message.shard];
      if (job.stopping || isComplete(snapshot)) return finish(snapshot, handOverAt);
      if (shard === undefined || shard.next !== chunk || isDone(job, shard) || isBusy(shard, clock())) return;
      const after = await claimAndApply(job, shard, refusedSince, until, handOverAt);
      if (after !== undefined && !after.stop && !isDone(job, after) && clock() >= until) {
        return sendChunks(job, [{ shard: after.number, chunk: after.next }]);
      }
      // The job may have stopped, or be complete: read it again.
      chunk = after?.next;
      refusedSince = undefined;
    }
  };
}
