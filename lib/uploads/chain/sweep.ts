import type { RuntimeWith } from "../../aws/runtime.ts";
import { mapConcurrently } from "../../retry.ts";
import { fileDue } from "../files/upload-form.ts";
import { objectKeys, type UploadObjects } from "../files/upload-objects.ts";
import type { UploadShard } from "../job/shard-record.ts";
import { isBusy } from "../job/claim.ts";
import {
  isComplete,
  isDone,
  type JobKey,
  runningSeconds,
  type UploadJob,
  type UploadSnapshot,
} from "../job/upload-record.ts";
import { CHECK_WITHIN_MS, type UploadStore } from "../job/upload-store.ts";
import type { EndWithoutRows } from "./finish.ts";
import type { SendChunks, SendJob } from "./messages.ts";

const MINUTE_MS = 60_000;
/** So much before a sweep, a check is due that it must not leave to the next one. */
const BEFORE_SWEEP_MS = MINUTE_MS - CHECK_WITHIN_MS;
/** A message is received within this time, unless the queue is long. */
const MESSAGE_MS = MINUTE_MS;
/** A message that a worker sends after a refusal is received this long after its delay. */
const RELEASED_MS = 20_000;
/** The time between messages for the same work doubles this often, to 32 minutes: the queue may be long. */
const DOUBLINGS_MAX = 5;
/** Jobs that are checked at the same time. Each check mostly waits for DynamoDB and S3. */
const CONCURRENT_CHECKS = 16;

/**
 * Time until the next look for a form's file: a tenth of the form's age, and a sweep that comes no later. In the six hours in
 * which the largest file may arrive, this makes fewer than 60 requests to S3.
 */
function waitForFile(job: UploadJob, now: number): number {
  const tenth = (now - Date.parse(job.created_at)) / 10;
  const wholeMinutes = tenth - (tenth % MINUTE_MS);
  return Math.max(CHECK_WITHIN_MS, Math.min(wholeMinutes - BEFORE_SWEEP_MS, fileDue(job) - now));
}

/** How long the sweep waits after it has sent this many messages. The wait before the second is as long as before the first. */
function waitAfter(resent: number): number {
  return MESSAGE_MS * 2 ** Math.min(DOUBLINGS_MAX, Math.max(0, resent - 1));
}

/** Whether a message or worker was lost. @param since when the work was first sent, in milliseconds since the epoch */
export function isLost(
  record: Pick<UploadShard, "busy_until" | "changed_at" | "refused_since" | "resent" | "resent_at">,
  since: number,
  now: number,
): boolean {
  if (isBusy(record, now)) return false;
  const {
    busy_until: busyUntil,
    changed_at: changedAt,
    refused_since: refusedSince,
    resent,
    resent_at: resentAt,
  } = record;
  // If a claim has expired, its worker has died. After a refusal its worker has sent a message.
  if (resent === 0 && busyUntil > 0) return now > busyUntil + (refusedSince > 0 ? RELEASED_MS : 0);
  return now > Math.max(since, changedAt, resentAt) + waitAfter(resent);
}

/**
 * One job of each organization, then the next of each, so that an organization with many open jobs delays no other. The jobs of
 * an organization are in random order, so that the same ones aren't left out each time.
 */
function takingTurns(due: readonly JobKey[]): JobKey[] {
  const turns = new Map<string, number>();
  const shuffled = due.map((job) => ({ job, order: Math.random() })).toSorted((a, b) => a.order - b.order);
  return shuffled
    .map(({ job }) => {
      const turn = turns.get(job.organization) ?? 0;
      turns.set(job.organization, turn + 1);
      return { job, turn };
    })
    .toSorted((a, b) => a.turn - b.turn)
    .map(({ job }) => job);
}

/** How long jobs have waited. */
interface Ages {
  /** Seconds since the file of a running job arrived. */
  readonly jobSeconds: number;
  /** Seconds since a file arrived that no worker has started to read. */
  readonly fileSeconds: number;
}
const NO_AGES: Ages = { jobSeconds: 0, fileSeconds: 0 };

/** Dependencies of `createSweep`. */
export interface SweepDependencies extends Pick<RuntimeWith<never>, "clock" | "log"> {
  readonly store: UploadStore;
  readonly objects: UploadObjects;
  readonly sendSplit: SendJob;
  readonly sendChunks: SendChunks;
  readonly endWithoutRows: EndWithoutRows;
}

/**
 * Makes the function that checks every open job that is due. It sends new messages for work that lost its message or worker,
 * and ends jobs that can no longer complete.
 * @returns a function that takes the time after which jobs are left to the next sweep, in milliseconds since the epoch, and
 * returns the ages of the oldest jobs that it checked
 */
export function createSweep({ clock, log, store, objects, sendSplit, sendChunks, endWithoutRows }: SweepDependencies) {
  /** Sends a message for a job, unless one was sent recently. The job is still checked each minute, so that its age is known. */
  const sendAgain = async (job: UploadJob, send: () => Promise<void>): Promise<void> => {
    const now = clock();
    if (job.resent > 0 && now < job.resent_at + waitAfter(job.resent)) return;
    await send();
    await store.postponeCheck(job, now + CHECK_WITHIN_MS, { isResent: true });
  };
  /** Without `refused_since`: if the last worker died, that counts as an attempt. */
  const sendFileAgain = (job: UploadJob): Promise<void> =>
    sendAgain(job, () => sendSplit({ organization: job.organization, id: job.id }));

  /** Checks a job whose file no worker has started to read. */
  const checkPending = async (job: UploadJob, now: number): Promise<Ages> => {
    if (job.undo_of !== undefined) {
      await sendFileAgain(job);
      return { ...NO_AGES, jobSeconds: runningSeconds(job, now) };
    }
    const file = await objects.head(objectKeys.source(job));
    const isForm = job.origin === "form";
    if (file === null) {
      if (isForm && now < fileDue(job)) await store.postponeCheck(job, now + waitForFile(job, now));
      else if (isForm) await endWithoutRows(job, "the file never arrived; request a new form");
      else await endWithoutRows(job, "the file did not arrive; upload it again");
      return NO_AGES;
    }
    await sendFileAgain(job);
    const arrived = isForm ? file.writtenAt.getTime() : Date.parse(job.created_at);
    return { ...NO_AGES, fileSeconds: (now - arrived) / 1000 };
  };

  /** Checks a job whose rows are in chunks. */
  const checkChunks = async (snapshot: UploadSnapshot, now: number): Promise<void> => {
    const { job, shards } = snapshot;
    if (job.stopping || isComplete(snapshot)) {
      // Any message makes a worker end the job.
      const [{ next: chunk } = { next: 0 }] = shards;
      if (!isBusy(job, now)) await sendAgain(job, () => sendChunks(job, [{ shard: 0, chunk }]));
      return;
    }
    const lost = shards.filter((shard) => !isDone(job, shard) && isLost(shard, job.changed_at, now));
    if (lost.length === 0) return;
    await sendChunks(
      job,
      lost.map(({ number, next }) => ({ shard: number, chunk: next })),
    );
    await Promise.all(lost.map((shard) => store.shards.countResent(job, shard)));
  };

  const check = async (key: JobKey): Promise<Ages> => {
    try {
      const snapshot = await store.read(key);
      const now = clock();
      // The index may lag.
      if (snapshot?.job.check_at === undefined || Date.parse(snapshot.job.check_at) > now) return NO_AGES;
      const { job } = snapshot;
      if (job.chunks) await checkChunks(snapshot, now);
      else if (job.stopping) await endWithoutRows(job);
      else if (job.status === "pending") return await checkPending(job, now);
      else if (isLost(job, 0, now)) await sendFileAgain(job);
      return { ...NO_AGES, jobSeconds: runningSeconds(job, now) };
    } catch (error) {
      // The sweep continues with the other jobs.
      log.error("sweep of an upload failed", { job: key.id, error: error instanceof Error ? error : String(error) });
      return NO_AGES;
    }
  };

  return async (until: number): Promise<Ages> => {
    const due = takingTurns(await store.dueJobs(clock()));
    const ages = await mapConcurrently(due, CONCURRENT_CHECKS, async (job) => (clock() < until ? check(job) : NO_AGES));
    return {
      jobSeconds: ages.reduce((oldest, { jobSeconds }) => Math.max(oldest, jobSeconds), 0),
      fileSeconds: ages.reduce((oldest, { fileSeconds }) => Math.max(oldest, fileSeconds), 0),
    };
  };
}
