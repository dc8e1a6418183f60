import { randomUUID } from "node:crypto";
import { type Clock, isoTime } from "../../clock.ts";
import type { Attributes } from "../../aws/attribute-values.ts";
import { TIME_TO_LIVE } from "../../resources.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { OpenUploads } from "./open-uploads.ts";
import {
  type Counters,
  type JobKey,
  LEASE_MS,
  type SplitProgress,
  unclaimedPart,
  type UploadJob,
  type UploadPart,
  type UploadSnapshot,
} from "./upload-record.ts";
import { jobFrom, partFrom, recordKeys, UploadTable } from "./upload-table.ts";

/** Another worker has claimed the record, or it must not change any more: this worker must stop. */
export class LeaseLostError extends Error {
  override readonly name: string = "LeaseLostError";
}

/** Lifetime of a part's record: as long as that of segments and reports. */
const PART_KEPT_SECONDS = 30 * 86_400;
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

const SPLITTER_IS_OWNER =
  "#owner = :owner AND #epoch = :epoch AND attribute_not_exists(#published) AND attribute_not_exists(#stopping) AND attribute_exists(#next_check)";
/** What a checkpoint that moves ends. */
const MOVED = { stalls: 0, busy_since: 0 } as const;

/** The claim before counts as one without progress, unless a busy store also kept its worker from giving it up. */
function stalled(unreleasedSince: number | undefined) {
  return unreleasedSince === undefined
    ? { set: {}, add: { stalls: 1 } }
    : { set: { stalls: 1, busy_since: unreleasedSince }, add: {} };
}

/** The claims of workers on jobs and their parts, and what they save. Every change is one conditional write. */
export class UploadStore {
  /** The jobs that have not ended: created, ended, and found by the sweep. */
  readonly openUploads: OpenUploads;
  readonly #table: UploadTable;
  readonly #clock: Clock;

  constructor(runtime: RuntimeWith<"workItems">) {
    this.#clock = runtime.clock;
    this.#table = new UploadTable(runtime);
    this.openUploads = new OpenUploads(this.#table, runtime.clock);
  }

  readJob(job: JobKey): Promise<UploadJob | undefined> {
    return this.#table.readJob(job);
  }

  /** Reads a job and its parts, strongly consistent. */
  read(job: JobKey): Promise<UploadSnapshot | undefined> {
    return this.#table.read(job);
  }

  /** Claims the splitting of a job. */
  async claimSplit(
    job: JobKey,
    source: {
      readonly etag: string;
      readonly size: number;
      readonly parts: number;
      readonly writtenAt?: Date;
      readonly unreleasedSince?: number | undefined;
    },
  ): Promise<Claim<UploadJob>> {
    const claim = this.#claimed();
    const { set, add } = stalled(source.unreleasedSince);
    const item = await this.openUploads.updateWatched(job, {
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
      given: { now: this.#clock(), etag: source.etag },
    });
    const record = item ? jobFrom(item) : await this.readJob(job);
    if (!record) throw new LeaseLostError();
    return outcomeOf(record, claim.owner);
  }

  /** Saves the splitter's checkpoint and renews its lease. @throws LeaseLostError */
  saveSplit(job: Claimed<UploadJob>, progress: SplitProgress): Promise<Claimed<UploadJob>> {
    const set = { ...progress, ...this.#renewed(), ...MOVED };
    return this.#updateSplit(job, set, ({ offset }) => offset === progress.offset);
  }

  /** Records in one write that all rows are in segments, and ends the lease. @throws LeaseLostError */
  publish(job: Claimed<UploadJob>, progress: SplitProgress): Promise<Claimed<UploadJob>> {
    const set = {
      ...progress,
      ...this.#released(),
      published: true,
      total_rows: progress.rows,
      ...(progress.rows === 0 && { part_count: 0 }),
      updated_at: isoTime(this.#clock()),
    };
    return this.#updateSplit(job, set, ({ published }) => published === true);
  }

  /**
   * Ends the lease, so that another worker can continue from the checkpoint. No effect if the lease is lost.
   * @param isBusy whether the store has kept the checkpoint from moving, since the record's `busy_since`
   */
  async releaseSplit(job: Claimed<UploadJob>, isBusy = false): Promise<void> {
    const { owner, epoch, busy_since } = job;
    await this.#table.update({
      key: recordKeys.job(job),
      set: { ...this.#released(), ...(isBusy && { stalls: 0, busy_since }) },
      condition: SPLITTER_IS_OWNER,
      given: { owner, epoch },
    });
  }

  /**
   * Sets the status that the job is to end with.
   * @returns false if the job has ended, or such a status was set before
   */
  async requestStop(
    job: JobKey,
    stopping: NonNullable<UploadJob["stopping"]>,
    options: { readonly error?: string; readonly unlessPublished?: boolean } = {},
  ): Promise<boolean> {
    const stopped = await this.openUploads.updateWatched(job, {
      set: { stopping, error: options.error?.slice(0, ERROR_MAX_CHARACTERS), changed_at: this.#clock() },
      condition: [
        "attribute_not_exists(#stopping)",
        ...(options.unlessPublished ? ["attribute_not_exists(#published)"] : []),
      ].join(" AND "),
    });
    return stopped !== null;
  }

  /** Claims a part. @param unreleasedSince as in its message */
  async claimPart(job: UploadJob, number: number, unreleasedSince?: number): Promise<Claim<UploadPart>> {
    const claim = this.#claimed();
    const { set, add } = stalled(unreleasedSince);
    const key = recordKeys.part(job, number);
    const item = await this.#table.update({
      key,
      set: {
        ...claim,
        ...set,
        number,
        state: "open",
        [TIME_TO_LIVE]: Math.ceil(Date.parse(job.created_at) / 1000) + PART_KEPT_SECONDS,
      },
      add: { epoch: 1, ...add, segment: 0, offset: 0, succeeded: 0, failed: 0 },
      condition:
        "attribute_not_exists(#pk) OR (#state = :open AND #lease_until < :now AND attribute_not_exists(#stop))",
      given: { open: "open", now: this.#clock() },
    });
    const record = item ?? (await this.#table.get(key));
    if (!record) throw new LeaseLostError();
    return outcomeOf(partFrom(record), claim.owner);
  }

  /**
   * Saves checkpoint, counters and the objects of the window in one write.
   * @param progress if `state` is not open, the part cannot be claimed again
   * @throws LeaseLostError
   */
  async savePart(
    job: JobKey,
    part: Claimed<UploadPart>,
    progress: Partial<
      Pick<UploadPart, "segment" | "offset" | "failures" | "results" | "state" | "rows_at_once"> & Counters
    >,
  ): Promise<Claimed<UploadPart>> {
    const { owner, epoch, segment, offset } = part;
    const next = { ...part, ...progress };
    const isMoved = next.segment !== segment || next.offset !== offset;
    const lease = next.state === "open" ? this.#renewed() : this.#released();
    const key = recordKeys.part(job, part.number);
    const saved = await this.#table.update({
      key,
      set: { ...progress, ...lease, ...(isMoved && MOVED) },
      condition: "#owner = :owner AND #epoch = :epoch AND #segment = :segment AND #offset = :offset",
      given: { owner, epoch, segment, offset },
    });
    if (saved !== null) return ownedBy(partFrom(saved), owner);
    const stored = await this.#table.get(key);
    const now = stored ? partFrom(stored) : unclaimedPart(part.number);
    const isSaved = now.segment === next.segment && now.offset === next.offset && now.state === next.state;
    if (now.epoch !== epoch || !isSaved) throw new LeaseLostError();
    return ownedBy(now, owner);
  }

  /**
   * Ends the lease, so that another worker can continue from the checkpoint. No effect if the lease is lost.
   * @param change what else the record says of the attempt
   */
  async releasePart(
    job: JobKey,
    part: Claimed<UploadPart>,
    change: Partial<Pick<UploadPart, "stalls" | "busy_since" | "rows_at_once">> = {},
  ): Promise<void> {
    const { number, owner, epoch } = part;
    await this.#table.update({
      key: recordKeys.part(job, number),
      set: { ...this.#released(), ...change },
      condition: "#owner = :owner AND #epoch = :epoch",
      given: { owner, epoch },
    });
  }

  /** Prevents further claims of the part, and makes its current worker stop at the next checkpoint. */
  async stopPart(job: JobKey, number: number): Promise<void> {
    await this.#table.update({
      key: recordKeys.part(job, number),
      set: { stop: true, number },
      condition: "attribute_not_exists(#stop)",
    });
  }

  /** Takes an open part without a holder away from its last owner, which can't save anything of it any more. */
  async closePart(job: JobKey, number: number): Promise<void> {
    await this.#table.update({
      key: recordKeys.part(job, number),
      set: { state: "stopped", changed_at: this.#clock() },
      add: { epoch: 1 },
      condition: "#state = :open AND #lease_until < :now",
      given: { open: "open", now: this.#clock() },
    });
  }

  /** @param isSaved whether a record that was read after a failed write shows that it was written */
  async #updateSplit(
    job: Claimed<UploadJob>,
    set: Attributes,
    isSaved: (now: UploadJob) => boolean,
  ): Promise<Claimed<UploadJob>> {
    const { owner, epoch, offset } = job;
    const saved = await this.#table.update({
      key: recordKeys.job(job),
      set,
      condition: `${SPLITTER_IS_OWNER} AND #offset = :offset`,
      given: { owner, epoch, offset },
    });
    if (saved !== null) return ownedBy(jobFrom(saved), owner);
    const now = await this.readJob(job);
    if (now?.epoch !== epoch || !isSaved(now)) throw new LeaseLostError();
    return ownedBy(now, owner);
  }

  #claimed() {
    return { owner: randomUUID(), ...this.#renewed() };
  }

  #renewed() {
    const now = this.#clock();
    return { lease_until: now + LEASE_MS, changed_at: now };
  }

  #released() {
    return { lease_until: 0, changed_at: this.#clock() };
  }
}
