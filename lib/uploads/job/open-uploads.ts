import { backOff } from "../../backoff.ts";
import { type Clock, isoTime } from "../../clock.ts";
import { toUpdate } from "../../dynamodb/conditional-update.ts";
import { StoreBusyError } from "../../errors.ts";
import { listingEntry } from "../../listing/partition.ts";
import type { Organization } from "../../organizations/organization.ts";
import type { Counters, JobKey, UploadJob } from "./upload-record.ts";
import { jobFrom, type OpenUpload, recordKeys, type UploadTable } from "./upload-table.ts";

/** Transactions on a job that its other writers may be changing at the moment. */
const ATTEMPTS_MAX = 8;

const openItem = ({ organization, id }: JobKey, at: number) => ({
  ...recordKeys.open({ organization, id }, isoTime(at)),
  organization,
  id,
});

/**
 * The beginning and the end of jobs. As long as a job is open it has a `next_check`, and a record of that time among the
 * open ones, written and removed with it, so that the sweep finds it without a scan.
 */
export const createOpenUploads = ({ name: table, transact, readJob, remove }: UploadTable, clock: Clock) => ({
  /** Makes a job unless there is one of its id. @returns the one that is there */
  create: async (
    organization: Organization,
    made: Pick<UploadJob, "id" | "origin" | "content_hash" | "expected_size">,
    nextCheck: number,
  ): Promise<{ readonly job: UploadJob; readonly created: boolean }> => {
    const now = isoTime(clock());
    const job = {
      ...made,
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
      ]);
      if (created) return { job: jobFrom(job), created };
      const existing = await readJob(job);
      if (existing) return { job: existing, created };
      await backOff(attempt);
    }
    throw new StoreBusyError("the upload could not be recorded; send it again");
  },

  /** Freezes an open job and takes it out of the open ones. Of several who do so at once, the first stands. */
  end: async (
    job: JobKey,
    outcome: { readonly status: "completed" | "failed" | "cancelled"; readonly error?: string } & Counters,
  ): Promise<void> => {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const stored = await readJob(job);
      if (stored?.next_check === undefined) return;
      if (stored.stopping && outcome.status === "completed") return;
      const ended = await transact([
        {
          Update: toUpdate(table, {
            key: recordKeys.job(job),
            set: {
              status: outcome.status,
              error: outcome.error,
              succeeded_rows: outcome.succeeded,
              failed_rows: outcome.failed,
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
      ]);
      if (ended) return;
      await backOff(attempt);
    }
    throw new StoreBusyError("the upload could not be ended");
  },

  /** Puts off the next look at an open job. One that has ended, or that somebody else put off, stays as it is. */
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

  /** Removes the mark of an open job where there is none. */
  forgetOpen: async (open: OpenUpload): Promise<void> => {
    await remove(recordKeys.open(open, open.due));
  },
});
