import { randomUUID } from "node:crypto";
import { isUnavailable } from "../../aws/error-codes.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { ObjectGoneError } from "../files/upload-objects.ts";
import type { ListTime, WriteList } from "../files/write-list.ts";
import { sumOf, toRowCounters } from "../job/counters.ts";
import { CHUNK_ATTEMPTS_MAX, type UploadShard } from "../job/shard-record.ts";
import { CLAIM_MS, hasWaitedEnough, isBusy, isRefusedForGood } from "../job/claim.ts";
import {
  isComplete,
  isEnded,
  isSettled,
  logFieldsOf,
  type UploadJob,
  type UploadSnapshot,
} from "../job/upload-record.ts";
import type { UploadStore } from "../job/upload-store.ts";
import { type ChunkDependencies, ClaimedShard } from "./claimed-shard.ts";
import { createKeepClaim, StoppedError } from "./keep-claim.ts";
import type { SendJob } from "./messages.ts";

/** After this many claims without progress, a stopped shard is closed as it is. */
const CLOSING_ATTEMPTS_MAX = CHUNK_ATTEMPTS_MAX + 2;
const UNCOUNTED = "some of the last rows may be applied and not counted";
const UNLISTED = "failed_rows and results could not be written for a day";
/** A worker that applies rows merges lists for this long. Workers that have minutes merge longer ones. */
const SHORT_LISTS_MS = 5_000;

type EndDependencies = Pick<RuntimeWith<never>, "log"> & { readonly store: UploadStore };

/** The run that merged a job's lists, and what is missing from them. */
interface MergedLists {
  readonly merged?: string;
  readonly shortfalls?: readonly string[];
}

/** Ends a job with these counters. */
async function end(
  dependencies: EndDependencies,
  job: UploadJob,
  counters: ReturnType<typeof sumOf>,
  lists: MergedLists = {},
): Promise<void> {
  const { store, log } = dependencies;
  const { merged, shortfalls = [] } = lists;
  const met = counters.succeeded + counters.failed;
  // Only some of its import's rows are undone.
  const short = job.undo_of !== undefined && job.stopping === undefined && met !== job.total_rows;
  const status = job.stopping ?? (short ? "failed" : "completed");
  const missed = short ? [`the import has ${job.total_rows} rows, of which ${met} were found`] : [];
  const error = [job.error, ...missed, ...shortfalls].filter(Boolean).join("; ");
  const endedNow = await store.end(job, counters, {
    status,
    merged,
    ...(missed.length + shortfalls.length > 0 && { error }),
  });
  const { key_id: keyId, total_rows: rows, source_size: bytes } = job;
  if (endedNow)
    log.info("upload ended", { ...logFieldsOf(job), key: keyId, status, rows, ...toRowCounters(counters), bytes });
  if (endedNow || job.stopping) return;
  // The job was stopped after its last row was counted. The message of that stop found the job busy.
  const current = await store.readJob(job);
  if (current?.stopping && !isEnded(current)) await end(dependencies, current, counters, lists);
}

/** Makes the function that ends a job without applied rows: it stops before it is in chunks, or has no rows. */
export function createEndWithoutRows(dependencies: EndDependencies) {
  /** @param error fails the job, unless it is in chunks */
  return async (job: UploadJob, error?: string): Promise<void> => {
    if (error !== undefined) await dependencies.store.requestStop(job, "failed", { error, unlessPublished: true });
    const current = await dependencies.store.readJob(job);
    if (current && (current.chunks ? current.total_rows === 0 : current.stopping))
      await end(dependencies, current, sumOf([]));
  };
}
/** Ends a job without applied rows. */
export type EndWithoutRows = ReturnType<typeof createEndWithoutRows>;

/**
 * Makes the function that counts what workers of a stopped shard have applied.
 * @returns a function that takes a deadline, after which requests aren't retried
 */
export function createSettleShard(dependencies: ChunkDependencies) {
  const { clock, store, findOrganization } = dependencies;
  return async (job: UploadJob, shard: UploadShard, deadline: number): Promise<void> => {
    const organization = await findOrganization(job.organization);
    const claimed = organization && (await store.shards.claim(job, shard, { closes: true }));
    if (!claimed) return;
    // Every job ends, even if its last rows can no longer be read or workers die at them.
    if (claimed.attempts > CLOSING_ATTEMPTS_MAX) return store.shards.close(job, claimed, true);
    const claimedShard = new ClaimedShard(dependencies, job, organization, claimed, deadline);
    try {
      await claimedShard.close();
    } catch (error) {
      const isHopeless = error instanceof ObjectGoneError || isRefusedForGood(claimed, clock());
      if (isHopeless) return store.shards.close(job, claimedShard.record, true);
      await store.shards.release(job, claimedShard.record, isUnavailable(error) ? clock() + CLAIM_MS : 0);
      throw error;
    }
  };
}
/** Counts what workers of a stopped shard have applied. */
type SettleShard = ReturnType<typeof createSettleShard>;

/** When a shard last changed, in milliseconds since the epoch. */
function lastChangeOf({ shards }: UploadSnapshot): number {
  return Math.max(...shards.map((shard) => shard.changed_at));
}

/** Dependencies of `createFinishUpload`. */
export interface FinishDependencies extends EndDependencies, Pick<RuntimeWith<never>, "clock"> {
  readonly writeList: WriteList;
  /** Set for workers that apply rows, which leave long lists to others. @default this worker merges long lists */
  readonly rowWorker?: {
    readonly settle: SettleShard;
    /** Sends a job with long lists to workers that have the time. */
    readonly sendSplit: SendJob;
  };
}

/**
 * Makes the function that ends a job once all its rows are counted, or once it must stop and no worker has any of its shards.
 * Several workers may call it at the same time, and again.
 * @returns a function that takes the time at which lists end, in milliseconds since the epoch. The job's error says what is
 * missing from them
 */
export function createFinishUpload(dependencies: FinishDependencies) {
  const { clock, log, store, writeList, rowWorker } = dependencies;

  /** Stops all shards. @returns the job if all of them are settled; undefined while a worker has one */
  const stopAll = async ({ job, shards }: UploadSnapshot, until: number): Promise<UploadSnapshot | undefined> => {
    const open = shards.filter((shard) => !isSettled(job, shard));
    await Promise.all(open.map((shard) => store.shards.stop(job, shard)));
    let snapshot = await store.read(job);
    const left = snapshot?.shards.filter((shard) => !isSettled(job, shard) && !isBusy(shard, clock())) ?? [];
    if (rowWorker && left.length > 0) {
      await Promise.all(left.map((shard) => rowWorker.settle(job, shard, until)));
      snapshot = await store.read(job);
    }
    return snapshot?.shards.every((shard) => isSettled(job, shard)) ? snapshot : undefined;
  };

  /** Merges the lists of rows. @returns what is missing from them; undefined if a worker with more time has to merge them */
  const writeLists = async (
    snapshot: UploadSnapshot,
    merged: string,
    time: ListTime,
  ): Promise<string[] | undefined> => {
    const { shards } = snapshot;
    const { failed, succeeded } = sumOf(shards);
    const rowsOf = { failed_rows: failed, results: succeeded + failed };
    const shortfalls = shards.some(({ uncounted }) => uncounted) ? [UNCOUNTED] : [];
    for (const name of ["failed_rows", "results"] as const) {
      const all = rowsOf[name];
      if (all === 0) continue;
      const { rows, isWhole } = await writeList(name, snapshot, merged, time, !rowWorker);
      if (rows === all) continue;
      if (!isWhole && rowWorker) return undefined;
      shortfalls.push(
        isWhole
          ? `${name} lists ${rows} of ${all}: the others were deleted before they could be listed`
          : `${name} lists the first ${rows} of ${all}`,
      );
    }
    return shortfalls;
  };

  /** Merges the lists of a job that this worker has claimed. @returns undefined if a worker with more time has to do it */
  const mergeLists = async (
    snapshot: UploadSnapshot,
    claimed: UploadJob,
    until: number,
  ): Promise<MergedLists | undefined> => {
    const isOverdue = hasWaitedEnough(lastChangeOf(snapshot), clock());
    // A worker that had claimed the job has died.
    if (isOverdue && snapshot.job.busy_until > 0) return { shortfalls: [UNLISTED] };
    const merged = randomUUID();
    const listsUntil = rowWorker ? Math.min(until, clock() + SHORT_LISTS_MS) : until;
    const time: ListTime = {
      isOver: () => clock() >= listsUntil,
      keepClaim: createKeepClaim(dependencies, claimed),
    };
    try {
      const shortfalls = await writeLists(snapshot, merged, time);
      return shortfalls && { merged, shortfalls };
    } catch (error) {
      if (!isOverdue || error instanceof StoppedError) throw error;
      log.error("lists of an upload cannot be written", { ...logFieldsOf(claimed), error: error as Error });
      return { shortfalls: [UNLISTED] };
    }
  };

  return async (given: UploadSnapshot, until: number): Promise<void> => {
    const snapshot = given.job.stopping ? await stopAll(given, until) : given;
    if (snapshot === undefined || (!snapshot.job.stopping && !isComplete(snapshot))) return;
    const { job, shards } = snapshot;
    const claimed = await store.claim(job);
    if (claimed === undefined) return;
    try {
      const lists = await mergeLists(snapshot, claimed, until);
      if (lists) return await end(dependencies, job, sumOf(shards), lists);
      await store.release(claimed);
      await rowWorker?.sendSplit({ organization: job.organization, id: job.id });
    } catch (error) {
      if (error instanceof StoppedError) return;
      await store.release(claimed);
      throw error;
    }
  };
}

/** Ends a job if no work is left. */
export type FinishUpload = ReturnType<typeof createFinishUpload>;
