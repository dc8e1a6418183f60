import type { RuntimeWith } from "../../aws/runtime.ts";
import type { RowListName } from "../files/row-list.ts";
import { type ListContent, ListUnfinishedError, type WriteList } from "../files/write-list.ts";
import type { PartPosition, SendParts } from "./upload-messages.ts";
import {
  logFieldsOf,
  isEnded,
  isHeld,
  type JobKey,
  sumOf,
  type UploadJob,
  type UploadSnapshot,
} from "../job/upload-record.ts";
import type { UploadStore } from "../job/upload-store.ts";

/** Stops all parts that are not done, so that none of them can be claimed again. */
async function stopParts(store: UploadStore, { job, parts }: UploadSnapshot): Promise<void> {
  const stopped = new Set(parts.filter(({ stop, state }) => stop || state === "done").map(({ number }) => number));
  const numbers = Array.from({ length: job.part_count ?? 0 }, (_, number) => number);
  await Promise.all(numbers.filter((number) => !stopped.has(number)).map((number) => store.stopPart(job, number)));
}

/** Error message for a list that does not hold all its rows; undefined if it does. */
function shortfallOf(name: RowListName, { rows, hasGaps }: ListContent, all: number): string | undefined {
  if (rows === all) return undefined;
  return hasGaps
    ? `${name} lists ${rows} of ${all}: the others were deleted before they could be listed`
    : `${name} lists the first ${rows} of ${all}`;
}

/** How long writing the lists of rows may take. */
export interface FinishTime {
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** Whether the lists may end at that time. The job's error then says how many rows they hold. */
  readonly abridge: boolean;
}

/**
 * Ends a job if all its parts are done, or if it is to stop and no worker holds any of them. May be called repeatedly
 * and by several workers at the same time.
 * @param time time for the lists; not needed before rows are applied
 * @returns whether the job has ended
 * @throws ListUnfinishedError if the time was too short for the lists and they may not be abridged
 */
export function createFinishUpload(
  store: UploadStore,
  writeList: WriteList,
  { clock, log }: Pick<RuntimeWith<never>, "clock" | "log">,
) {
  return async (key: JobKey, time: FinishTime = { until: Infinity, abridge: false }): Promise<boolean> => {
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
    const lists = [
      ["failed_rows", counters.failed],
      ["results", counters.succeeded + counters.failed],
    ] as const;
    const shortfalls: string[] = [];
    for (const [name, all] of lists) {
      if (all === 0) continue;
      const content = await writeList(name, job, parts, { isOver, abridge: time.abridge });
      const shortfall = shortfallOf(name, content, all);
      if (shortfall !== undefined) shortfalls.push(shortfall);
    }
    const status = job.stopping ?? "completed";
    const endedNow = await store.openUploads.end(job, counters, {
      status,
      ...(shortfalls.length > 0 && { error: [job.error, ...shortfalls].filter(Boolean).join("; ") }),
    });
    const { key_id: keyId, total_rows: rows, source_size: bytes } = job;
    if (endedNow) log.info("upload ended", { ...logFieldsOf(job), key: keyId, status, rows, bytes });
    return true;
  };
}

/**
 * Ends a job. If the lists take too long, a message for the given part lets a worker write them in a run of its own.
 * @param until time for the lists, in milliseconds since the epoch
 * @returns whether the job has ended, its lists were left to a worker by a message, or its work continues
 */
export function createFinishOrSend(finish: FinishUpload, sendParts: SendParts) {
  return async (job: UploadJob, part: PartPosition, until: number): Promise<"ended" | "sent" | "working"> => {
    try {
      return (await finish(job, { until, abridge: false })) ? "ended" : "working";
    } catch (error) {
      if (!(error instanceof ListUnfinishedError)) throw error;
      await sendParts(job, [part]);
      return "sent";
    }
  };
}

/** Ends a job if its work is done. */
export type FinishUpload = ReturnType<typeof createFinishUpload>;
/** Ends a job if its work is done, or leaves that to a worker. */
export type FinishOrSend = ReturnType<typeof createFinishOrSend>;
