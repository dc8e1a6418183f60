import type { Clock } from "../clock.ts";
import type { WriteReport } from "./failed-rows.ts";
import type { JobKey } from "./upload-objects.ts";
import { isEnded, isHeld, sumOf, type UploadSnapshot } from "./upload-record.ts";
import type { UploadStore } from "./upload-store.ts";

/** Stops every part that has not ended; afterwards none of them is claimed again. */
const stopParts = async (store: UploadStore, { job, parts }: UploadSnapshot): Promise<void> => {
  const stopped = new Set(parts.filter(({ stop, state }) => stop || state === "done").map(({ number }) => number));
  const numbers = Array.from({ length: job.part_count ?? 0 }, (_, number) => number);
  await Promise.all(numbers.filter((number) => !stopped.has(number)).map((number) => store.stopPart(job, number)));
};

/**
 * Ends a job if nothing of it is left to do: all parts done, or the job is to stop and no worker holds any of them.
 * Safe to repeat, and for several to do at once.
 * @returns whether the job has ended
 */
export const createSettleUpload =
  (store: UploadStore, writeReport: WriteReport, clock: Clock) =>
  async (key: JobKey): Promise<boolean> => {
    let snapshot = await store.read(key);
    if (!snapshot || isEnded(snapshot.job)) return true;
    if (snapshot.job.stopping && snapshot.job.published) {
      await stopParts(store, snapshot);
      snapshot = (await store.read(key)) ?? snapshot;
      if (snapshot.parts.some((part) => isHeld(part, clock()))) return false;
    }
    const { job, parts } = snapshot;
    const isDone = job.published && parts.filter(({ state }) => state === "done").length === job.part_count;
    if (!job.stopping && !isDone) return false;

    const counters = sumOf(parts);
    if (counters.failed > 0) await writeReport(job, parts);
    await store.end(job, { status: job.stopping ?? "completed", ...counters });
    return true;
  };

export type SettleUpload = ReturnType<typeof createSettleUpload>;
