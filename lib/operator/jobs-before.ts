import { paginateQuery } from "@aws-sdk/lib-dynamodb";
import { allItems } from "../store/all-items.ts";
import { type OnDamaged, passDamaged } from "../store/decode-record.ts";
import { partitionKeyOf } from "../resources.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { createUploadObjects, objectKeys } from "../uploads/files/upload-objects.ts";
import { isEnded, type UploadJob } from "../uploads/job/upload-record.ts";
import { UploadTable } from "../uploads/job/upload-table.ts";

/** Calls end within this time, frozen or not, since the gateway waits 29 s. */
export const CALLS_END_WITHIN_MS = 30_000;
/**
 * The longest that a worker runs: Lambda ends it at its timeout, frozen or not. One that has read a record before it was
 * changed may write until then.
 */
export const WORKERS_END_WITHIN_MS = 120_000;

/**
 * An organization's upload jobs that were created before a time.
 * @param time milliseconds since the epoch
 * @param onDamaged called with the record of a job that can't be read: nobody waits for it, since workers can't read it
 */
export function createJobsBefore(
  runtime: RuntimeWith<"workItems" | "uploads">,
  organization: string,
  time: number,
  onDamaged: OnDamaged,
) {
  const { dynamodb, environment } = runtime;
  const table = new UploadTable(runtime);
  const { head } = createUploadObjects(runtime);
  const known = new Map<string, Promise<boolean>>();

  const isBefore = ({ created_at: created }: UploadJob): boolean => Date.parse(created) < time;
  /** Whether a form has been given out and no file has come: one that comes now comes later. */
  const isWaiting = async (job: UploadJob): Promise<boolean> =>
    job.origin === "form" && job.status === "pending" && (await head(objectKeys.source(job))) === null;
  const readJob = (id: string) => table.readJob({ organization, id }).catch(passDamaged(onDamaged));
  const find = async (id: string): Promise<boolean> => {
    const job = await readJob(id);
    return job === undefined || isBefore(job);
  };

  return {
    /** Ids of those whose rows may still be applied. */
    open: async (): Promise<string[]> => {
      const pages = paginateQuery(
        { client: dynamodb },
        {
          TableName: environment.WORK_ITEMS_TABLE,
          KeyConditionExpression: "pk = :pk",
          ExpressionAttributeValues: { ":pk": partitionKeyOf("OPEN_UPLOADS_OF", organization) },
          ConsistentRead: true,
        },
      );
      const open: string[] = [];
      for (const { sk } of await allItems(pages)) {
        const job = await readJob(String(sk));
        if (job !== undefined && !isEnded(job) && isBefore(job) && !(await isWaiting(job))) open.push(job.id);
      }
      return open;
    },
    /** Whether a job came before, or does not exist. */
    cameBefore: (id: string): Promise<boolean> => {
      const answer = known.get(id) ?? find(id);
      known.set(id, answer);
      return answer;
    },
    /** Until when workers of a job that came before and has ended may write, in milliseconds since the epoch. */
    workersUntil: (job: UploadJob): number =>
      isEnded(job) && isBefore(job) ? Date.parse(job.updated_at) + WORKERS_END_WITHIN_MS : 0,
  };
}
