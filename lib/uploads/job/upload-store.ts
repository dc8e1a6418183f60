import { randomUUID } from "node:crypto";
import { isoTime } from "../../clock.ts";
import type { Attributes } from "../../aws/attribute-values.ts";
import { TIME_TO_LIVE } from "../../resources.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { createOpenUploads } from "./open-uploads.ts";
import {
  type Counters,
  type JobKey,
  LEASE_MS,
  type SplitProgress,
  unclaimedPart,
  type UploadJob,
  type UploadPart,
} from "./upload-record.ts";
import { createUploadTable, jobFrom, partFrom, recordKeys } from "./upload-table.ts";

/** Another worker has claimed the record, or it must not change any more: this worker must stop. */
export class LeaseLostError extends Error {
  override readonly name: string = "LeaseLostError";
}

/** Lifetime of a part's record: as long as that of segments and reports. */
const PART_DAYS = 30;
const DAY_SECONDS = 86_400;
/** An error names what is wrong with a file; the record must stay far below DynamoDB's 400 KB. */
const ERROR_MAX_CHARACTERS = 4000;
/** A job or part that this worker has claimed. */
export type Claimed<T> = T & { readonly owner: string };

/** The outcome of a claim, with the current record. */
export type Claim<T> =
  | { readonly state: "claimed"; readonly record: Claimed<T> }
  /** Another worker holds the lease, or the record must not be claimed any more. */
  | { readonly state: "refused"; readonly record: T };

type Owned = { readonly owner?: string | undefined };
function isOwnedBy<T extends Owned>(record: T, owner: string): record is Claimed<T> {
  return record.owner === owner;
}

/** The outcome of a claim by the current record, also if the response to the write was lost. */
function outcomeOf<T extends Owned>(record: T, owner: string): Claim<T> {
  return isOwnedBy(record, owner) ? { state: "claimed", record } : { state: "refused", record };
}

/** The record after its owner's write. @throws LeaseLostError if another worker owns it now */
function ownedBy<T extends Owned>(record: T, owner: string): Claimed<T> {
  if (isOwnedBy(record, owner)) return record;
  throw new LeaseLostError();
}

const splitterIsOwner =
  "#owner = :owner AND #epoch = :epoch AND attribute_not_exists(#published) AND attribute_not_exists(#stopping) AND attribute_exists(#next_check)";
const partIsOwned = "#owner = :owner AND #epoch = :epoch AND #segment = :segment AND #offset = :offset";

/** Stores upload jobs, their parts and the records of open jobs. Every change is one conditional write. */
export function createUploadStore(runtime: RuntimeWith<"workItems">) {
  const { clock } = runtime;
  const table = createUploadTable(runtime);
  const { update, get, readJob, read, openUploads } = table;
  const open = createOpenUploads(table, clock);

  const renewed = () => {
    const now = clock();
    return { lease_until: now + LEASE_MS, changed_at: now };
  };
  const claimed = () => ({ owner: randomUUID(), ...renewed() });
  /** The claim before counts as one without progress, unless a busy store also kept its worker from giving it up. */
  const stalled = (unreleasedSince: number | undefined) =>
    unreleasedSince === undefined
      ? { set: {}, add: { stalls: 1 } }
      : { set: { stalls: 1, busy_since: unreleasedSince }, add: {} };
  const released = () => ({ lease_until: 0, changed_at: clock() });
  const moved = () => ({ stalls: 0, busy_since: 0 });

  const saveSplit = async (job: Claimed<UploadJob>, set: Attributes, isSaved: (now: UploadJob) => boolean) => {
    const { owner, epoch, offset } = job;
    const saved = await update({
      key: recordKeys.job(job),
      set,
      condition: `${splitterIsOwner} AND #offset = :offset`,
      given: { owner, epoch, offset },
    });
    if (saved !== null) return ownedBy(jobFrom(saved), owner);
    const now = await readJob(job);
    if (now?.epoch !== epoch || !isSaved(now)) throw new LeaseLostError();
    return ownedBy(now, owner);
  };

  return {
    readJob,
    read,
    openUploads,
    ...open,

    /** Claims the splitting of a job. */
    claimSplit: async (
      job: JobKey,
      source: {
        readonly etag: string;
        readonly size: number;
        readonly parts: number;
        readonly writtenAt?: Date;
        readonly unreleasedSince?: number | undefined;
      },
    ): Promise<Claim<UploadJob>> => {
      const claim = claimed();
      const { set, add } = stalled(source.unreleasedSince);
      const item = await open.updateWatched(job, {
        set: {
          ...claim,
          ...set,
          status: "processing",
          source_etag: source.etag,
          source_written_at: source.writtenAt && isoTime(source.writtenAt.getTime()),
          source_size: source.size,
          part_count: source.parts,
        },
        add: { epoch: 1, ...add, offset: 0, row: 0, rows: 0 },
        condition: [
          "attribute_not_exists(#published)",
          "attribute_not_exists(#stopping)",
          "(attribute_not_exists(#lease_until) OR #lease_until < :now)",
          "(attribute_not_exists(#source_etag) OR #source_etag = :etag)",
        ].join(" AND "),
        given: { now: clock(), etag: source.etag },
      });
      const record = item ? jobFrom(item) : await readJob(job);
      if (!record) throw new LeaseLostError();
      return outcomeOf(record, claim.owner);
    },

    /** Saves the splitter's checkpoint and renews its lease. @throws LeaseLostError */
    saveSplit: (job: Claimed<UploadJob>, progress: SplitProgress): Promise<Claimed<UploadJob>> =>
      saveSplit(job, { ...progress, ...renewed(), ...moved() }, (now) => now.offset === progress.offset),

    /**
     * Ends the lease, so that another worker can continue from the checkpoint. No effect if the lease is lost.
     * @param isBusy whether the store has kept the checkpoint from moving, since the record's `busy_since`
     */
    releaseSplit: async (job: Claimed<UploadJob>, isBusy = false): Promise<void> => {
      const { owner, epoch, busy_since } = job;
      await update({
        key: recordKeys.job(job),
        set: { ...released(), ...(isBusy && { stalls: 0, busy_since }) },
        condition: splitterIsOwner,
        given: { owner, epoch },
      });
    },

    /** Records in one write that all rows are in segments, and ends the lease. @throws LeaseLostError */
    publish: (job: Claimed<UploadJob>, progress: SplitProgress): Promise<Claimed<UploadJob>> =>
      saveSplit(
        job,
        {
          ...progress,
          ...released(),
          published: true,
          total_rows: progress.rows,
          ...(progress.rows === 0 && { part_count: 0 }),
          updated_at: isoTime(clock()),
        },
        (now) => now.published === true,
      ),

    /** Claims a part. @param unreleasedSince as in its message */
    claimPart: async (job: UploadJob, number: number, unreleasedSince?: number): Promise<Claim<UploadPart>> => {
      const claim = claimed();
      const { set, add } = stalled(unreleasedSince);
      const key = recordKeys.part(job, number);
      const item = await update({
        key,
        set: {
          ...claim,
          ...set,
          number,
          state: "open",
          [TIME_TO_LIVE]: Math.ceil(Date.parse(job.created_at) / 1000) + PART_DAYS * DAY_SECONDS,
        },
        add: { epoch: 1, ...add, segment: 0, offset: 0, succeeded: 0, failed: 0 },
        condition:
          "attribute_not_exists(#pk) OR (#state = :open AND #lease_until < :now AND attribute_not_exists(#stop))",
        given: { open: "open", now: clock() },
      });
      const record = item ?? (await get(key));
      if (!record) throw new LeaseLostError();
      return outcomeOf(partFrom(record), claim.owner);
    },

    /**
     * Saves checkpoint, counters and the objects of the window in one write.
     * @param progress if `state` is not open, the part cannot be claimed again
     * @throws LeaseLostError
     */
    savePart: async (
      job: JobKey,
      part: Claimed<UploadPart>,
      progress: Partial<
        Pick<UploadPart, "segment" | "offset" | "failures" | "results" | "state" | "rows_at_once"> & Counters
      >,
    ): Promise<Claimed<UploadPart>> => {
      const { owner, epoch, segment, offset } = part;
      const next = { ...part, ...progress };
      const isMoved = next.segment !== segment || next.offset !== offset;
      const lease = next.state === "open" ? renewed() : released();
      const key = recordKeys.part(job, part.number);
      const saved = await update({
        key,
        set: { ...progress, ...lease, ...(isMoved && moved()) },
        condition: partIsOwned,
        given: { owner, epoch, segment, offset },
      });
      if (saved !== null) return ownedBy(partFrom(saved), owner);
      const stored = await get(key);
      const now = stored ? partFrom(stored) : unclaimedPart(part.number);
      const isSaved = now.segment === next.segment && now.offset === next.offset && now.state === next.state;
      if (now.epoch !== epoch || !isSaved) throw new LeaseLostError();
      return ownedBy(now, owner);
    },

    /**
     * Ends the lease, so that another worker can continue from the checkpoint. No effect if the lease is lost.
     * @param change what else the record says of the attempt
     */
    releasePart: async (
      job: JobKey,
      part: Claimed<UploadPart>,
      change: Partial<Pick<UploadPart, "stalls" | "busy_since" | "rows_at_once">> = {},
    ): Promise<void> => {
      const { number, owner, epoch } = part;
      await update({
        key: recordKeys.part(job, number),
        set: { ...released(), ...change },
        condition: "#owner = :owner AND #epoch = :epoch",
        given: { owner, epoch },
      });
    },

    /**
     * Sets the status that the job is to end with.
     * @returns false if the job has ended, or such a status was set before
     */
    requestStop: async (
      job: JobKey,
      stopping: NonNullable<UploadJob["stopping"]>,
      options: { readonly error?: string; readonly unlessPublished?: boolean } = {},
    ): Promise<boolean> => {
      const stopped = await open.updateWatched(job, {
        set: { stopping, error: options.error?.slice(0, ERROR_MAX_CHARACTERS), changed_at: clock() },
        condition: [
          "attribute_not_exists(#stopping)",
          ...(options.unlessPublished ? ["attribute_not_exists(#published)"] : []),
        ].join(" AND "),
      });
      return stopped !== null;
    },

    /** Prevents further claims of the part, and makes its current worker stop at the next checkpoint. */
    stopPart: async (job: JobKey, number: number): Promise<void> => {
      await update({
        key: recordKeys.part(job, number),
        set: { stop: true, number },
        condition: "attribute_not_exists(#stop)",
      });
    },

    /** Takes an open part that nobody holds away from its last owner, who can save nothing of it any more. */
    closePart: async (job: JobKey, number: number): Promise<void> => {
      await update({
        key: recordKeys.part(job, number),
        set: { state: "stopped", changed_at: clock() },
        add: { epoch: 1 },
        condition: "#state = :open AND #lease_until < :now",
        given: { open: "open", now: clock() },
      });
    },
  };
}

/** The store of upload jobs. */
export type UploadStore = ReturnType<typeof createUploadStore>;
