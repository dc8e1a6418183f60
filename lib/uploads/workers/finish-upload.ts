import type { Clock } from "../../clock.ts";
import { type ReportContent, ReportUnfinishedError, type WriteReport } from "../files/failed-rows.ts";
import type { PartPosition, SendParts } from "./upload-messages.ts";
import { isEnded, isHeld, type JobKey, sumOf, type UploadJob, type UploadSnapshot } from "../job/upload-record.ts";
import type { UploadStore } from "../job/upload-store.ts";

/** Stops every part that has not ended; afterwards none of them is claimed again. */
const stopParts = async (store: UploadStore, { job, parts }: UploadSnapshot): Promise<void> => {
  const stopped = new Set(parts.filter(({ stop, state }) => stop || state === "done").map(({ number }) => number));
  const numbers = Array.from({ length: job.part_count ?? 0 }, (_, number) => number);
  await Promise.all(numbers.filter((number) => !stopped.has(number)).map((number) => store.stopPart(job, number)));
};

/** What the job says of a report that does not list all failed rows; undefined of one that does. */
const shortfallOf = ({ rows, hasGaps }: ReportContent, failed: number): string | undefined => {
  if (rows === failed) return undefined;
  return hasGaps
    ? `failed_rows lists ${rows} of ${failed}: the others were deleted before they could be listed`
    : `failed_rows lists the first ${rows} of ${failed}`;
};

/** How long a report of failed rows may take. */
export interface FinishTime {
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** What is listed by then is the report, and the job says so. */
  readonly abridge: boolean;
}

/**
 * Ends a job if nothing of it is left to do: all parts done, or the job is to stop and no worker holds any of them.
 * Safe to repeat, and for several to do at once.
 * @param time not needed before rows are applied
 * @returns whether the job has ended
 * @throws ReportUnfinishedError where time was too short for the report and it may not be abridged
 */
export const createFinishUpload =
  (store: UploadStore, writeReport: WriteReport, clock: Clock) =>
  async (key: JobKey, time: FinishTime = { until: Infinity, abridge: false }): Promise<boolean> => {
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
    const isOver = (): boolean => clock() >= time.until;
    const report = counters.failed > 0 && (await writeReport(job, parts, { isOver, abridge: time.abridge }));
    const shortfall = report && shortfallOf(report, counters.failed);
    await store.end(job, {
      status: job.stopping ?? "completed",
      ...(shortfall && { error: [job.error, shortfall].filter(Boolean).join("; ") }),
      ...counters,
    });
    return true;
  };

/**
 * Ends a job as far as time goes; a report that takes longer gets a whole run of a part's worker, by a message to any part.
 * @param until milliseconds since the epoch
 */
export const createFinishOrSend =
  (finish: FinishUpload, sendParts: SendParts) =>
  async (job: UploadJob, part: PartPosition, until: number): Promise<void> => {
    try {
      await finish(job, { until, abridge: false });
    } catch (error) {
      if (!(error instanceof ReportUnfinishedError)) throw error;
      await sendParts(job, [part]);
    }
  };

export type FinishUpload = ReturnType<typeof createFinishUpload>;
