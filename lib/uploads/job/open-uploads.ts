import { backOff } from "../../backoff.ts";
import { type Clock, isoTime } from "../../clock.ts";
import { toUpdate } from "../../dynamodb/conditional-update.ts";
import { StoreBusyError, TooManyRequestsError } from "../../errors.ts";
import { listingEntry } from "../../listing/partition.ts";
import type { Organization } from "../../organizations/organization.ts";
import { type Counters, type JobKey, type NewUpload, toRowCounters, type UploadJob } from "./upload-record.ts";
import { jobFrom, type OpenUpload, recordKeys, type UploadTable } from "./upload-table.ts";

/** Attempts of a transaction that may conflict with other writers of the job. */
const ATTEMPTS_MAX = 8;

/** Unfinished jobs of one organization: far more than run at once, and few enough for the sweep to look after. */
const OPEN_MAX = 100;
/** Some of them end in this time, in seconds. */
const RETRY_AFTER_SECONDS = 30;

const openItem = ({ organization, id }: JobKey, at: number) => ({
  ...recordKeys.open({ organization, id }, isoTime(at)),
  organization,
  id,
});

/**
 * Creates and ends jobs. An open job has a `next_check` and a second record with that time in the partitions of open
 * jobs, by which the sweep finds it without a scan. One transaction always changes both.
 */
export const createOpenUploads = (
  { name: table, transact, readJob, remove, countOpen }: UploadTable,
  clock: Clock,
) => ({
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

  /** Postpones the next check of an open job, unless the job has ended or another call has postponed it. */
  checkAgain: async (job: UploadJob, at: number): Promise<void> => {
    if (job.next_check === undefined) return;
    await transact([
      {
        Update: toUpdate(table, {
          key: recordKeys.job(job),
          set: { next_check: isoTime(at) },
          condition: "#next_check = :check",
          given: { check: job.next_check },
        }),
      },
      { Delete: { TableName: table, Key: recordKeys.open(job, job.next_check) } },
      { Put: { TableName: table, Item: openItem(job, at) } },
    ]);
  },

  /** Removes the open record of a job that has ended or does not exist. */
  forgetOpen: async (open: OpenUpload): Promise<void> => {
    await remove(recordKeys.open(open, open.due));
    await remove(recordKeys.openOf(open));
  },
});
