import type { RuntimeWith } from "../../runtime/runtime.ts";
import { type ReportContent, ReportUnfinishedError, type WriteReport } from "../files/failed-rows.ts";
import type { PartPosition, SendParts } from "./upload-messages.ts";
import { isEnded, isHeld, type JobKey, sumOf, type UploadJob, type UploadSnapshot } from "../job/upload-record.ts";
import type { UploadStore } from "../job/upload-store.ts";

/** Stops all parts that are not done, so that none of them can be claimed again. */
const stopParts = async (store: UploadStore, { job, parts }: UploadSnapshot): Promise<void> => {
  const stopped = new Set(parts.filter(({ stop, state }) => stop || state === "done").map(({ number }) => number));
  const numbers = Array.from({ length: job.part_count ?? 0 }, (_, number) => number);
  await Promise.all(numbers.filter((number) => !stopped.has(number)).map((number) => store.stopPart(job, number)));
};

/** Error message for a report that does not list all failed rows; undefined if it lists them all. */
const shortfallOf = ({ rows, hasGaps }: ReportContent, failed: number): string | undefined => {
  if (rows === failed) return undefined;
  return hasGaps
    ? `failed_rows lists ${rows} of ${failed}: the others were deleted before they could be listed`
    : `failed_rows lists the first ${rows} of ${failed}`;
};

/** How long writing the report of failed rows may take. */
export interface FinishTime {
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** Whether the report may end at that time. The job's error then says how many rows it lists. */
  readonly abridge: boolean;
}

/**
 * Ends a job if all its parts are done, or if it is to stop and no worker holds any of them. May be called repeatedly
 * and by several workers at the same time.
 * @param time time for the report; not needed before rows are applied
 * @returns whether the job has ended
 * @throws ReportUnfinishedError if the time was too short for the report and it may not be abridged
 */
export const createFinishUpload =
  (store: UploadStore, writeReport: WriteReport, { clock, log }: Pick<RuntimeWith<never>, "clock" | "log">) =>
  async (key: JobKey, time: FinishTime = { until: Infinity, abridge: false }): Promise<boolean> => {
    let snapshot = await store.read(key);
    if (!snapshot || isEnded(snapshot.job)) return true;
    if (snapshot.job.stopping && snapshot.job.published) {
      await stopParts(store, snapshot);
      snapshot = (await store.read(key)) ?? snapshot;
      if (snapshot.parts.some((part) => isHeld(part, clock()))) return false;
      // A worker that was stopped for longer than its lease may wake up: what it saves must not pass the counters.
      const open = snapshot.parts.filter(({ state }) => state === "open");
      await Promise.all(open.map(({ number }) => store.closePart(key, number)));
      snapshot = (await store.read(key)) ?? snapshot;
    }
    const { job, parts } = snapshot;
    const isDone = job.published && parts.filter(({ state }) => state === "done").length === job.part_count;
    if (!job.stopping && !isDone) return false;

    const counters = sumOf(parts);
    const isOver = (): boolean => clock() >= time.until;
    const report = counters.failed > 0 && (await writeReport(job, parts, { isOver, abridge: time.abridge }));
    const shortfall = report && shortfallOf(report, counters.failed);
    const status = job.stopping ?? "completed";
    const endedNow = await store.end(job, counters, {
      status,
      ...(shortfall && { error: [job.error, shortfall].filter(Boolean).join("; ") }),
    });
    const { organization, key_id: keyId, total_rows: rows, source_size: bytes } = job;
    if (endedNow) log.info("upload ended", { job: job.id, organization, key: keyId, status, rows, bytes });
    return true;
  };

/**
 * Ends a job. If the report takes too long, a message for the given part lets a worker write it in a run of its own.
 * @param until time for the report, in milliseconds since the epoch
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

/** Ends a job if its work is done. */
export type FinishUpload = ReturnType<typeof createFinishUpload>;
