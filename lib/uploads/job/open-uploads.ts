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
export function createOpenUploads({ name: table, transact, update, readJob, countOpen }: UploadTable, clock: Clock) {
  /**
   * Moves the next check of an open job.
   * @param unchanged whether it is left alone if a worker or a stop has changed the job since it was read
   * @returns false if the job has ended or changed, or another call has moved its check
   */
  const moveCheck = (job: UploadJob, at: number, unchanged: boolean): Promise<boolean> => {
    const { next_check: check, changed_at: changed } = job;
    // The record that is deleted and the one that is put must not be the same.
    if (check === undefined || check === isoTime(at)) return Promise.resolve(check !== undefined);
    const isUnchanged = changed === 0 ? "attribute_not_exists(#changed_at)" : "#changed_at = :changed";
    return transact([
      {
        Update: toUpdate(table, {
          key: recordKeys.job(job),
          set: { next_check: isoTime(at) },
          condition: unchanged ? `#next_check = :check AND ${isUnchanged}` : "#next_check = :check",
          given: { check, ...(unchanged && changed !== 0 && { changed }) },
        }),
      },
      { Delete: { TableName: table, Key: recordKeys.open(job, check) } },
      { Put: { TableName: table, Item: openItem(job, at) } },
    ]);
  };

  /** Pulls the next check of an open job forward, unless it is due by then. @returns whether it was later */
  const pullCheck = async (key: JobKey, by: number): Promise<boolean> => {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const job = await readJob(key);
      if (job?.next_check === undefined || job.next_check <= isoTime(by)) return attempt > 1;
      if (await moveCheck(job, by, false)) return true;
      await backOff(attempt);
    }
    throw new StoreBusyError("the check of the upload could not be pulled forward");
  };

  return {
    /**
     * Requests at the same time may pass together; below the limit none is refused.
     * @throws TooManyRequestsError
     */
    assertRoom: async ({ id }: Organization): Promise<void> => {
      if ((await countOpen(id, OPEN_MAX)) < OPEN_MAX) return;
      const message = `at most ${OPEN_MAX} uploads may be unfinished; cancel some, or retry after ${RETRY_AFTER_SECONDS} s`;
      throw new TooManyRequestsError(message, RETRY_AFTER_SECONDS);
    },

    /** Creates a job, unless one with its id exists. @returns the existing or created job */
    create: async (
      organization: Organization,
      upload: NewUpload,
      nextCheck: number,
    ): Promise<{ readonly job: UploadJob; readonly created: boolean }> => {
      const now = isoTime(clock());
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
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        const created = await transact([
          {
            Put: {
              TableName: table,
              Item: { ...recordKeys.job(job), ...job, ...listing },
              ConditionExpression: "attribute_not_exists(pk)",
            },
          },
          { Put: { TableName: table, Item: openItem(job, nextCheck) } },
          { Put: { TableName: table, Item: recordKeys.openOf(job) } },
        ]);
        if (created) return { job: jobFrom(job), created };
        const existing = await readJob(job);
        if (existing) return { job: existing, created };
        await backOff(attempt);
      }
      throw new StoreBusyError("the upload could not be recorded; send it again");
    },

    /** Ends an open job; it does not change afterwards. Of several simultaneous calls, only the first has an effect. */
    end: async (
      job: JobKey,
      counters: Counters,
      outcome: { readonly status: "completed" | "failed" | "cancelled"; readonly error?: string },
    ): Promise<boolean> => {
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        const stored = await readJob(job);
        if (stored?.next_check === undefined) return false;
        if (stored.stopping && outcome.status === "completed") return false;
        const ended = await transact([
          {
            Update: toUpdate(table, {
              key: recordKeys.job(job),
              set: {
                status: outcome.status,
                error: outcome.error,
                ...toRowCounters(counters),
                updated_at: isoTime(clock()),
              },
              remove: ["next_check", "lease_until"],
              condition:
                outcome.status === "completed"
                  ? "#next_check = :check AND attribute_not_exists(#stopping)"
                  : "#next_check = :check",
              given: { check: stored.next_check },
            }),
          },
          { Delete: { TableName: table, Key: recordKeys.open(job, stored.next_check) } },
          { Delete: { TableName: table, Key: recordKeys.openOf(job) } },
        ]);
        if (ended) return true;
        await backOff(attempt);
      }
      throw new StoreBusyError("the upload could not be ended");
    },

    /**
     * Postpones the next check of a job that was just checked. If the job has changed in the meantime, its check stays due,
     * so that a long wait for a form's file never delays a job whose file is being read.
     */
    postponeCheck: async (job: UploadJob, at: number): Promise<void> => {
      await moveCheck(job, at, true);
    },

    /** Makes sure that an open job is checked within a minute. */
    watch: async (job: JobKey): Promise<void> => {
      await pullCheck(job, clock() + CHECK_WITHIN_MS);
    },

    /**
     * Changes an open job only while its next check is due within a minute, and pulls it forward otherwise: a worker that
     * stops right after the write is missed by the sweep in time.
     * @returns the record after the change; null if the condition did not hold
     */
    updateWatched: async (job: JobKey, change: JobUpdate): Promise<Attributes | null> => {
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        const by = clock() + CHECK_WITHIN_MS;
        const changed = await update({
          ...change,
          key: recordKeys.job(job),
          condition: `#next_check <= :by AND ${change.condition}`,
          given: { ...change.given, by: isoTime(by) },
        });
        if (changed !== null || !(await pullCheck(job, by))) return changed;
        await backOff(attempt);
      }
      throw new StoreBusyError("the upload could not be changed");
    },

    /**
     * Removes an open record that is not its job's: the job has ended or does not exist, or is checked at another time.
     * @param job as read after the record
     */
    forgetOpen: async (open: OpenUpload, job: UploadJob | undefined): Promise<void> => {
      const isOpen = job?.next_check !== undefined;
      await transact([
        {
          ConditionCheck: {
            TableName: table,
            Key: recordKeys.job(open),
            ExpressionAttributeNames: { "#check": "next_check" },
            ...(isOpen
              ? { ConditionExpression: "#check <> :due", ExpressionAttributeValues: { ":due": open.due } }
              : { ConditionExpression: "attribute_not_exists(#check)" }),
          },
        },
        { Delete: { TableName: table, Key: recordKeys.open(open, open.due) } },
        ...(isOpen ? [] : [{ Delete: { TableName: table, Key: recordKeys.openOf(open) } }]),
      ]);
    },
  };
}
