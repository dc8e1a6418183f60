import { randomUUID } from "node:crypto";
import { isUnavailable } from "../../aws/error-codes.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { ObjectGoneError } from "../files/upload-objects.ts";
import type { ListTime, WriteList } from "../files/write-list.ts";
import { CHUNK_ATTEMPTS_MAX, sumOf, toRowCounters, type UploadShard } from "../job/shard-record.ts";
import { hasWaitedEnough, isBusy, isRefusedForGood } from "../job/claim.ts";
import {
  isComplete,
  isEnded,
  isSettled,
  logFieldsOf,
  type UploadJob,
  type UploadSnapshot,
} from "../job/upload-record.ts";
import { CLAIM_MS } from "../job/shard-store.ts";
import type { UploadStore } from "../job/upload-store.ts";
import { type ChunkDependencies, ClaimedShard } from "./claimed-shard.ts";
import { createKeepClaim, StoppedError } from "./keep-claim.ts";
import type { SendJob } from "./messages.ts";

/** Claims without progress after which a stopped shard is closed as it is. */
const CLOSING_ATTEMPTS_MAX = CHUNK_ATTEMPTS_MAX + 2;
const UNCOUNTED = "some of the last rows may be applied and not counted";
const UNLISTED = "failed_rows and results could not be written for a day";
/** A worker of rows merges lists for this long. Longer ones are left to workers that have minutes. */
const SHORT_LISTS_MS = 5_000;

type EndDependencies = Pick<RuntimeWith<never>, "log"> & { readonly store: UploadStore };

/** The run that merged a job's lists, and what they lack. */
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
  const status = job.stopping ?? "completed";
  const error = [job.error, ...shortfalls].filter(Boolean).join("; ");
  const endedNow = await store.end(job, counters, { status, merged, ...(shortfalls.length > 0 && { error }) });
  const { key_id: keyId, total_rows: rows, source_size: bytes } = job;
  if (endedNow)
    log.info("upload ended", { ...logFieldsOf(job), key: keyId, status, rows, ...toRowCounters(counters), bytes });
  if (endedNow || job.stopping) return;
  // A stop that came after the last row was counted changes no row. Its own message found the job busy.
  const current = await store.readJob(job);
  if (current?.stopping && !isEnded(current)) await end(dependencies, current, counters, lists);
}

/** Makes the function that ends a job of which no row is applied: it is to stop and is not in chunks yet, or has no rows. */
export function createEndWithoutRows(dependencies: EndDependencies) {
  return async (job: UploadJob): Promise<void> => {
    const current = await dependencies.store.readJob(job);
    if (current && (current.chunks ? current.total_rows === 0 : current.stopping))
      await end(dependencies, current, sumOf([]));
  };
}
/** Ends a job of which no row is applied. */
export type EndWithoutRows = ReturnType<typeof createEndWithoutRows>;

/** Makes the function that counts what workers of a stopped shard have applied. @returns a function that takes the time after which no request is tried again */
export function createSettleShard(dependencies: ChunkDependencies) {
  const { clock, store, findOrganization } = dependencies;
  return async (job: UploadJob, shard: UploadShard, deadline: number): Promise<void> => {
    const organization = await findOrganization(job.organization);
    const claimed = organization && (await store.shards.claim(job, shard, { closes: true }));
    if (!claimed) return;
    // Every job ends: also one whose last rows can't be read any more, or at which workers die.
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

/** When rows were counted last, in milliseconds since the epoch. */
function lastChangeOf({ shards }: UploadSnapshot): number {
  return Math.max(...shards.map((shard) => shard.changed_at));
}

/** What ending jobs whose rows are applied requires. */
export interface FinishDependencies extends EndDependencies, Pick<RuntimeWith<never>, "clock"> {
  readonly writeList: WriteList;
  /** What a worker of rows does itself, and leaves to others. @default this worker merges long lists */
  readonly ofRows?: {
    readonly settle: SettleShard;
    /** Sends a job whose lists take long to workers that have the time. */
    readonly sendSplit: SendJob;
  };
}

/**
 * Makes the function that ends a job if all its rows are counted, or if it is to stop and no worker has any of its shards.
 * It may be called repeatedly and by several workers at the same time.
 * @returns a function that ends the job's lists of rows at a time, in milliseconds since the epoch; the job's error then says
 * what they lack
 */
export function createFinishUpload(dependencies: FinishDependencies) {
  const { clock, log, store, writeList, ofRows } = dependencies;

  /** Stops all shards. @returns the job once all of them are settled; undefined as long as a worker has one */
  const stopAll = async ({ job, shards }: UploadSnapshot, until: number): Promise<UploadSnapshot | undefined> => {
    const open = shards.filter((shard) => !isSettled(job, shard));
    await Promise.all(open.map((shard) => store.shards.stop(job, shard)));
    let snapshot = await store.read(job);
    const left = snapshot?.shards.filter((shard) => !isSettled(job, shard) && !isBusy(shard, clock())) ?? [];
    if (ofRows && left.length > 0) {
      await Promise.all(left.map((shard) => ofRows.settle(job, shard, until)));
      snapshot = await store.read(job);
    }
    return snapshot?.shards.every((shard) => isSettled(job, shard)) ? snapshot : undefined;
  };

  /** Merges the lists of rows. @returns what they lack; undefined if they take longer and other workers have more time */
  const writeLists = async (
    snapshot: UploadSnapshot,
    merged: string,
    time: ListTime,
  ): Promise<string[] | undefined> => {
    const { shards } = snapshot;
    const { failed, succeeded } = sumOf(shards);
    const lists = [
      ["failed_rows", failed],
      ["results", succeeded + failed],
    ] as const;
    const shortfalls = shards.some(({ uncounted }) => uncounted) ? [UNCOUNTED] : [];
    for (const [name, all] of lists) {
      if (all === 0) continue;
      const { rows, isWhole } = await writeList(name, snapshot, merged, time, !ofRows);
      if (rows === all) continue;
      if (!isWhole && ofRows) return undefined;
      shortfalls.push(
        isWhole
          ? `${name} lists ${rows} of ${all}: the others were deleted before they could be listed`
          : `${name} lists the first ${rows} of ${all}`,
      );
    }
    return shortfalls;
  };

  /** Merges the lists of a job that this worker has claimed. @returns undefined if other workers have to do it */
  const mergeLists = async (
    snapshot: UploadSnapshot,
    claimed: UploadJob,
    until: number,
  ): Promise<MergedLists | undefined> => {
    const isOverdue = hasWaitedEnough(lastChangeOf(snapshot), clock());
    // A worker that had claimed the job has died.
    if (isOverdue && snapshot.job.busy_until > 0) return { shortfalls: [UNLISTED] };
    const merged = randomUUID();
    const listsUntil = ofRows ? Math.min(until, clock() + SHORT_LISTS_MS) : until;
    const time: ListTime = {
      isOver: () => clock() >= listsUntil,
      note: createKeepClaim(dependencies, claimed),
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
      await ofRows?.sendSplit({ organization: job.organization, id: job.id });
    } catch (error) {
      if (error instanceof StoppedError) return;
      await store.release(claimed);
      throw error;
    }
  };
}

/** Ends a job if its work is done. */
export type FinishUpload = ReturnType<typeof createFinishUpload>;
