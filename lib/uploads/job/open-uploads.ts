import { backOff } from "../../retry.ts";
import { type Clock, isoTime } from "../../clock.ts";
import { type ConditionalUpdate, toUpdate } from "../../store/conditional-update.ts";
import type { Attributes } from "../../aws/attribute-values.ts";
import { StoreBusyError, TooManyRequestsError } from "../../errors.ts";
import { listingEntry } from "../../store/lists/partition.ts";
import type { Organization } from "../../organizations/organization.ts";
import { type Counters, type JobKey, type NewUpload, toRowCounters, type UploadJob } from "./upload-record.ts";
import { jobFrom, type OpenUpload, recordKeys, type UploadTable } from "./upload-table.ts";

/** An open job is checked this long after anything happened to it: by the sweep of a minute later, at the latest. */
export const CHECK_WITHIN_MS = 55_000;

/** Attempts of a transaction that may conflict with other writers of the job. */
const ATTEMPTS_MAX = 8;

/** Unfinished jobs of one organization: far more than run at once, and few enough for the sweep to look after. */
const OPEN_MAX = 100;
/** Some of them end in this time, in seconds. */
const RETRY_AFTER_SECONDS = 30;

/** A write to a job's record, conditional on more than its next check. */
type JobUpdate = Omit<ConditionalUpdate, "key">;

/**
 * Repeats a write that may conflict with other writers of the job.
 * @param attempt returns undefined if it is to be repeated
 * @throws StoreBusyError
 */
async function untilDone<T>(failure: string, attempt: () => Promise<T | undefined>): Promise<T> {
  for (let count = 1; count <= ATTEMPTS_MAX; count++) {
    const done = await attempt();
    if (done !== undefined) return done;
    await backOff(count);
  }
  throw new StoreBusyError(failure);
}

function openItem({ organization, id }: JobKey, at: number) {
  return {
    ...recordKeys.open({ organization, id }, isoTime(at)),
    organization,
    id,
  };
}

/**
 * Creates and ends jobs. An open job has a `next_check` and a second record with that time in the partitions of open
 * jobs, by which the sweep finds it without a scan. One transaction always changes both, so that an open job always has
 * exactly one such record.
 */
export class OpenUploads {
  readonly #table: UploadTable;
  readonly #clock: Clock;

  constructor(table: UploadTable, clock: Clock) {
    this.#table = table;
    this.#clock = clock;
  }

  /**
   * Requests at the same time may pass together; below the limit none is refused.
   * @throws TooManyRequestsError
   */
  async assertRoom({ id }: Organization): Promise<void> {
    if ((await this.#table.countOpen(id, OPEN_MAX)) < OPEN_MAX) return;
    const message = `at most ${OPEN_MAX} uploads may be unfinished; cancel some, or retry after ${RETRY_AFTER_SECONDS} s`;
    throw new TooManyRequestsError(message, RETRY_AFTER_SECONDS);
  }

  /** Creates a job, unless one with its id exists. @returns the existing or created job */
  async create(
    organization: Organization,
    upload: NewUpload,
    nextCheck: number,
  ): Promise<{ readonly job: UploadJob; readonly created: boolean }> {
    const now = isoTime(this.#clock());
    const job = {
      ...upload,
      organization: organization.id,
      status: "pending" as const,
      created_at: now,
      updated_at: now,
      next_check: isoTime(nextCheck),
      total_rows: 0,
      succeeded_rows: 0,
      failed_rows: 0,
    };
    const listing = listingEntry("LIST_UPLOAD", organization, job.id, `${now}#${job.id}`);
    const TableName = this.#table.name;
    return untilDone("the upload could not be recorded; send it again", async () => {
      const created = await this.#table.transact([
        {
          Put: {
            TableName,
            Item: { ...recordKeys.job(job), ...job, ...listing },
            ConditionExpression: "attribute_not_exists(pk)",
          },
        },
        { Put: { TableName, Item: openItem(job, nextCheck) } },
        { Put: { TableName, Item: recordKeys.openOf(job) } },
      ]);
      if (created) return { job: jobFrom(job), created };
      const existing = await this.#table.readJob(job);
      return existing && { job: existing, created };
    });
  }

  /** Ends an open job; it does not change afterwards. Of several simultaneous calls, only the first has an effect. */
  async end(
    job: JobKey,
    counters: Counters,
    outcome: { readonly status: "completed" | "failed" | "cancelled"; readonly error?: string },
  ): Promise<boolean> {
    const { status, error } = outcome;
    const TableName = this.#table.name;
    return untilDone("the upload could not be ended", async () => {
      const stored = await this.#table.readJob(job);
      if (stored?.next_check === undefined) return false;
      if (stored.stopping && status === "completed") return false;
      const isUnchanged = "#next_check = :check";
      const ended = await this.#table.transact([
        {
          Update: toUpdate(TableName, {
            key: recordKeys.job(job),
            set: { status, error, ...toRowCounters(counters), updated_at: isoTime(this.#clock()) },
            remove: ["next_check", "lease_until"],
            condition: status === "completed" ? `${isUnchanged} AND attribute_not_exists(#stopping)` : isUnchanged,
            given: { check: stored.next_check },
          }),
        },
        { Delete: { TableName, Key: recordKeys.open(job, stored.next_check) } },
        { Delete: { TableName, Key: recordKeys.openOf(job) } },
      ]);
      return ended || undefined;
    });
  }

  /**
   * The open records whose check is due.
   * @param now milliseconds since the epoch
   */
  due(now: number): Promise<OpenUpload[]> {
    return this.#table.openUploads(now);
  }

  /** Makes sure that an open job is checked within a minute. */
  async watch(job: JobKey): Promise<void> {
    const by = this.#clock() + CHECK_WITHIN_MS;
    await untilDone("the check of the upload could not be pulled forward", () => this.#pullCheck(job, by));
  }

  /**
   * Postpones the next check of a job that was just checked. If the job has changed in the meantime, its check stays due,
   * so that a long wait for a form's file never delays a job whose file is being read.
   */
  async postponeCheck(job: UploadJob, at: number): Promise<void> {
    await this.#moveCheck(job, at, true);
  }

  /**
   * Changes an open job only while its next check is due within a minute, and pulls it forward otherwise: a worker that
   * stops right after the write is missed by the sweep in time.
   * @returns the record after the change; null if the condition did not hold
   */
  async updateWatched(job: JobKey, change: JobUpdate): Promise<Attributes | null> {
    return untilDone("the upload could not be changed", async () => {
      const by = this.#clock() + CHECK_WITHIN_MS;
      const changed = await this.#table.updateOnce({
        ...change,
        key: recordKeys.job(job),
        condition: `#next_check <= :by AND ${change.condition}`,
        given: { ...change.given, by: isoTime(by) },
      });
      if (changed !== null) return changed;
      return (await this.#pullCheck(job, by)) === "due" ? null : undefined;
    });
  }

  /**
   * Removes an open record that is not its job's: the job has ended or does not exist, or is checked at another time.
   * @param job as read after the record
   */
  async forget(open: OpenUpload, job: UploadJob | undefined): Promise<void> {
    const isOpen = job?.next_check !== undefined;
    const TableName = this.#table.name;
    await this.#table.transact([
      {
        ConditionCheck: {
          TableName,
          Key: recordKeys.job(open),
          ExpressionAttributeNames: { "#check": "next_check" },
          ...(isOpen
            ? { ConditionExpression: "#check <> :due", ExpressionAttributeValues: { ":due": open.due } }
            : { ConditionExpression: "attribute_not_exists(#check)" }),
        },
      },
      { Delete: { TableName, Key: recordKeys.open(open, open.due) } },
      ...(isOpen ? [] : [{ Delete: { TableName, Key: recordKeys.openOf(open) } }]),
    ]);
  }

  /**
   * Pulls the next check of an open job forward, unless it is due by then.
   * @returns undefined if another call has changed the job meanwhile
   */
  async #pullCheck(key: JobKey, by: number): Promise<"due" | "pulled" | undefined> {
    const job = await this.#table.readJob(key);
    if (job?.next_check === undefined || job.next_check <= isoTime(by)) return "due";
    return (await this.#moveCheck(job, by, false)) ? "pulled" : undefined;
  }

  /**
   * Moves the next check of an open job.
   * @param unchanged whether it is left alone if a worker or a stop has changed the job since it was read
   * @returns false if the job has ended or changed, or another call has moved its check
   */
  async #moveCheck(job: UploadJob, at: number, unchanged: boolean): Promise<boolean> {
    const { next_check: check, changed_at: changed } = job;
    // The record that is deleted and the one that is put must not be the same.
    if (check === undefined || check === isoTime(at)) return check !== undefined;
    const isUnchanged = changed === 0 ? "attribute_not_exists(#changed_at)" : "#changed_at = :changed";
    const TableName = this.#table.name;
    return this.#table.transact([
      {
        Update: toUpdate(TableName, {
          key: recordKeys.job(job),
          set: { next_check: isoTime(at) },
          condition: unchanged ? `#next_check = :check AND ${isUnchanged}` : "#next_check = :check",
          given: { check, ...(unchanged && changed !== 0 && { changed }) },
        }),
      },
      { Delete: { TableName, Key: recordKeys.open(job, check) } },
      { Put: { TableName, Item: openItem(job, at) } },
    ]);
  }
}
