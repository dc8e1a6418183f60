import { UNDO_DAYS, UPLOADS_KEPT_DAYS } from "../../periods.ts";
import { resources } from "../../resources.ts";
import { isEnded, type UploadJob } from "./upload-record.ts";

const DAY_MS = 86_400_000;

/** The lifecycle of the bucket's objects: how long those with a prefix are kept. */
export const OBJECTS_KEPT = [
  { prefix: "", days: UPLOADS_KEPT_DAYS },
  resources.uploads.shortLived,
] as const satisfies readonly { readonly prefix: string; readonly days: number }[];

/** How long after its end a job's lists can be downloaded. @returns milliseconds */
export function listsKeptMs(isTrial: boolean): number {
  return (isTrial ? resources.uploads.shortLived.days : UPLOADS_KEPT_DAYS) * DAY_MS;
}

/** S3 deletes what has expired at the next midnight (UTC). */
const OBJECTS_MS = (UPLOADS_KEPT_DAYS + 1) * DAY_MS;
/** The lists of a trial. */
const TRIAL_LISTS_MS = (resources.uploads.shortLived.days + 1) * DAY_MS;
/** A job that can't write its lists ends without them after a day. */
const LISTS_WAIT_MS = DAY_MS;

/**
 * Until when the bucket can hold anything of uploads that have ended. An undo reads their chunks for as long as these are kept,
 * and then its own lists are kept as long again.
 * @param ended when the last of them ended, in milliseconds since the epoch, as is the result
 */
export function keptUntil(ended: number): number {
  return ended + OBJECTS_MS + LISTS_WAIT_MS + OBJECTS_MS;
}

/** The same for one upload: earlier if it can no longer be undone. @param now milliseconds since the epoch */
export function jobKeptUntil(job: UploadJob, now: number): number {
  const ended = isEnded(job) ? Date.parse(job.updated_at) : now;
  // The trial of an undo has no file of its own.
  if (job.undo_of !== undefined && job.dry_run) return ended + TRIAL_LISTS_MS;
  const mayBeUndone = job.undo_of === undefined && !job.dry_run && now <= ended + UNDO_DAYS * DAY_MS;
  return mayBeUndone ? keptUntil(ended) : ended + OBJECTS_MS;
}
