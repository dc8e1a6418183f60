import { type OnDamaged, passDamaged } from "@work-items/lib/store/decode-record.ts";
import type { RuntimeWith } from "@work-items/lib/aws/runtime.ts";
import { createUploadObjects, objectKeys } from "@work-items/lib/uploads/files/upload-objects.ts";
import { isEnded, type UploadJob } from "@work-items/lib/uploads/job/upload-record.ts";
import { UploadStore } from "@work-items/lib/uploads/job/upload-store.ts";

/**
 * The longest that a worker runs: Lambda ends it after 15 minutes at most, frozen or not. The rest is a margin for clocks. Until
 * then a worker may write what it read before a change.
 */
export const WORKERS_END_WITHIN_MS = 16 * 60_000;

/**
 * An organization's upload jobs that were created before a time.
 * @param time milliseconds since the epoch
 * @param onDamaged called for a job whose record can't be read. It isn't waited for, since workers can't read it either
 */
export function createJobsBefore(
  runtime: RuntimeWith<"workItems" | "uploads">,
  organization: string,
  time: number,
  onDamaged: OnDamaged,
) {
  const store = new UploadStore(runtime);
  const { head } = createUploadObjects(runtime);
  const known = new Map<string, Promise<boolean>>();

  const isBefore = ({ created_at: created }: UploadJob): boolean => Date.parse(created) < time;
  /** Whether the job has a form but no file yet. A file that comes now came after the time. */
  const isWaiting = async (job: UploadJob): Promise<boolean> =>
    job.origin === "form" && job.status === "pending" && (await head(objectKeys.source(job))) === null;
  const readJob = (id: string) => store.readJob({ organization, id }).catch(passDamaged(onDamaged));
  const find = async (id: string): Promise<boolean> => {
    const job = await readJob(id);
    return job === undefined || isBefore(job);
  };

  return {
    /** Ids of the open jobs, as far as the index shows them. */
    listed: async (): Promise<string[]> => (await store.openJobsOf(organization)).map(({ id }) => id),
    /** Which of these jobs came before the time and may still apply rows. */
    openOf: async (ids: readonly string[]): Promise<string[]> => {
      const open: string[] = [];
      for (const id of ids) {
        const job = await readJob(id);
        if (job !== undefined && !isEnded(job) && isBefore(job) && !(await isWaiting(job))) open.push(id);
      }
      return open;
    },
    /** Whether a job came before the time, or doesn't exist. */
    cameBefore: (id: string): Promise<boolean> => {
      const answer = known.get(id) ?? find(id);
      known.set(id, answer);
      return answer;
    },
    /** Until when workers of an ended job from before the time may write, in milliseconds since the epoch; 0 for other jobs. */
    workersUntil: (job: UploadJob): number =>
      isEnded(job) && isBefore(job) ? Date.parse(job.updated_at) + WORKERS_END_WITHIN_MS : 0,
  };
}
