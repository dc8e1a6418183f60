import { mapConcurrently } from "../../retry.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { createFinishOrSend, type FinishOrSend, type FinishUpload } from "./finish-upload.ts";
import { fileDue } from "../files/upload-form.ts";
import { delayAfter, type PartPosition, type SendParts, type SendSplit, startOfPart } from "./upload-messages.ts";
import { objectKeys, type UploadObjects } from "../files/upload-objects.ts";
import {
  isHeld,
  PARTS_IN_FLIGHT,
  unclaimedPart,
  type UploadJob,
  type UploadPart,
  type UploadSnapshot,
} from "../job/upload-record.ts";
import { CHECK_WITHIN_MS } from "../job/open-uploads.ts";
import type { UploadStore } from "../job/upload-store.ts";
import type { OpenUpload } from "../job/upload-table.ts";

const MINUTE_MS = 60_000;
/** A message is received within this time, unless the queue is long. */
const GRACE_MS = MINUTE_MS;
/** Time until a job's next check: by the next sweep, a minute later, or later than that if a message was just sent. */
const EARLY_MS = MINUTE_MS - CHECK_WITHIN_MS;
const CHECK_AFTER_SENDING_MS = 2 * MINUTE_MS - EARLY_MS;
/** Time for ending one job in the sweep. If it takes longer, a worker ends the job. */
const FINISH_WITHIN_MS = 5000;
/** Jobs that are checked at the same time: each waits for DynamoDB and S3 most of its time. */
const CONCURRENT_CHECKS = 16;

/**
 * Time until a form's file is looked for again: a minute, or a tenth of the form's age in whole minutes. In the six hours
 * in which the largest file may arrive, these are fewer than 60 requests to S3.
 */
function waitForFile(job: UploadJob, now: number): number {
  const minutes = Math.floor((now - Date.parse(job.created_at)) / 10 / MINUTE_MS);
  return Math.max(CHECK_WITHIN_MS, Math.min(minutes * MINUTE_MS - EARLY_MS, fileDue(job) - now));
}

/** Whether a job or part needs a new message: its worker has died, or its last message was lost. */
function isStale(
  { lease_until: leaseEnd, changed_at: changed, stalls }: Pick<UploadPart, "lease_until" | "changed_at" | "stalls">,
  now: number,
): boolean {
  return leaseEnd > 0 ? leaseEnd < now : changed + delayAfter(stalls) * 1000 + GRACE_MS < now;
}

/** Parts whose message or worker was lost, so many that no more than `PARTS_IN_FLIGHT` run at the same time. */
export function findStaleParts({ job, parts }: UploadSnapshot, now: number): PartPosition[] {
  const byNumber = new Map(parts.map((part) => [part.number, part]));
  const partAt = (number: number): UploadPart => byNumber.get(number) ?? unclaimedPart(number);
  const wasSent = ({ number, state }: UploadPart): boolean => {
    if (state === "open") return true;
    const before = number < PARTS_IN_FLIGHT ? job : partAt(number - PARTS_IN_FLIGHT);
    return (
      (number < PARTS_IN_FLIGHT || ("state" in before && before.state === "done")) &&
      isStale({ ...before, stalls: 0 }, now)
    );
  };
  const open = Array.from({ length: job.part_count ?? 0 }, (_, number) => partAt(number)).filter(
    ({ state }) => state === undefined || state === "open",
  );
  const held = open.filter((part) => isHeld(part, now)).length;
  return open
    .filter((part) => !isHeld(part, now) && wasSent(part) && (part.state === undefined || isStale(part, now)))
    .slice(0, Math.max(0, PARTS_IN_FLIGHT - held));
}

/**
 * One job of each organization, then the next one of each: an organization with a hundred thousand open jobs delays no
 * other. Those of one are in random order, so that none is left out again and again.
 */
function takingTurns(due: readonly OpenUpload[]): OpenUpload[] {
  const turns = new Map<string, number>();
  return due
    .map((open) => ({ open, order: Math.random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ open }) => {
      const turn = turns.get(open.organization) ?? 0;
      turns.set(open.organization, turn + 1);
      return { open, turn };
    })
    .toSorted((a, b) => a.turn - b.turn)
    .map(({ open }) => open);
}

/** How long jobs have waited. */
interface Ages {
  /** Seconds since the file of a running job arrived: how long a form was open is up to its caller. */
  readonly jobSeconds: number;
  /** Seconds since a file arrived that no worker has started to read. */
  readonly fileSeconds: number;
}
const NO_AGES: Ages = { jobSeconds: 0, fileSeconds: 0 };

function runningSeconds(job: UploadJob, now: number): number {
  const since = (job.origin === "form" && job.source_written_at) || job.created_at;
  return (now - Date.parse(since)) / 1000;
}

interface Checked {
  /** Milliseconds until the next check. */
  readonly wait: number;
  readonly ages: Ages;
}

/** What a sweep works with. */
export interface SweepDependencies extends Pick<RuntimeWith<never>, "clock" | "log"> {
  readonly store: UploadStore;
  readonly objects: UploadObjects;
  readonly sendSplit: SendSplit;
  readonly sendParts: SendParts;
  readonly finish: FinishUpload;
}

/**
 * Checks every open job that is due: sends new messages for jobs and parts that lost a message or a worker, and ends
 * jobs that can no longer complete.
 */
export class UploadSweep {
  readonly #with: SweepDependencies;
  readonly #finishOrSend: FinishOrSend;

  constructor(dependencies: SweepDependencies) {
    this.#with = dependencies;
    this.#finishOrSend = createFinishOrSend(dependencies.finish, dependencies.sendParts);
  }

  /**
   * @param until milliseconds since the epoch after which the other jobs are left to the next sweep
   * @returns the ages of the oldest that it checked
   */
  async run(until: number): Promise<Ages> {
    const { clock, store } = this.#with;
    const due = takingTurns(await store.openUploads.due(clock()));
    const ages = await mapConcurrently(due, CONCURRENT_CHECKS, async (open) =>
      clock() < until ? this.#check(open) : NO_AGES,
    );
    return {
      jobSeconds: ages.reduce((oldest, { jobSeconds }) => Math.max(oldest, jobSeconds), 0),
      fileSeconds: ages.reduce((oldest, { fileSeconds }) => Math.max(oldest, fileSeconds), 0),
    };
  }

  async #check(open: OpenUpload): Promise<Ages> {
    const { log, store } = this.#with;
    try {
      const snapshot = await store.read(open);
      if (snapshot?.job.next_check === open.due) return await this.#checkJob(snapshot);
      await store.openUploads.forget(open, snapshot?.job);
    } catch (error) {
      // A job that cannot be checked must not prevent the sweep from checking the others.
      log.error("sweep of an upload failed", { job: open.id, error: error instanceof Error ? error : String(error) });
    }
    return NO_AGES;
  }

  async #checkJob(snapshot: UploadSnapshot): Promise<Ages> {
    const { job } = snapshot;
    const now = this.#with.clock();
    const { wait, ages } =
      job.stopping || job.published || job.status === "processing"
        ? { wait: await this.#checkRunning(snapshot, now), ages: { ...NO_AGES, jobSeconds: runningSeconds(job, now) } }
        : await this.#checkPending(job, now);
    await this.#with.store.openUploads.postponeCheck(job, now + wait);
    return ages;
  }

  /** Checks a job whose file no worker has started to read. */
  async #checkPending(job: UploadJob, now: number): Promise<Checked> {
    const file = await this.#with.objects.head(objectKeys.source(job));
    const isForm = job.origin === "form";
    if (file === null) {
      if (isForm && now < fileDue(job)) return { wait: waitForFile(job, now), ages: NO_AGES };
      await this.#fail(
        job,
        isForm ? "the file never arrived; request a new form" : "the file did not arrive; upload it again",
      );
      return { wait: CHECK_WITHIN_MS, ages: NO_AGES };
    }
    await this.#with.sendSplit(job);
    const arrived = isForm ? file.writtenAt.getTime() : Date.parse(job.created_at);
    return { wait: CHECK_AFTER_SENDING_MS, ages: { ...NO_AGES, fileSeconds: (now - arrived) / 1000 } };
  }

  /** @returns milliseconds until the next check */
  async #checkRunning(snapshot: UploadSnapshot, now: number): Promise<number> {
    const { job } = snapshot;
    if (job.stopping) {
      await this.#finishOrSend(job, startOfPart(0), now + FINISH_WITHIN_MS);
      return CHECK_WITHIN_MS;
    }
    return job.published ? this.#checkParts(snapshot, now) : this.#checkReading(job, now);
  }

  /** Checks a job whose file is being read. @returns milliseconds until the next check */
  async #checkReading(job: UploadJob, now: number): Promise<number> {
    if (isHeld(job, now) || !isStale(job, now)) return CHECK_WITHIN_MS;
    await this.#with.sendSplit(job);
    return CHECK_AFTER_SENDING_MS;
  }

  /** Checks the parts of a job. @returns milliseconds until the next check */
  async #checkParts(snapshot: UploadSnapshot, now: number): Promise<number> {
    const { job, parts } = snapshot;
    const isDone = parts.filter(({ state }) => state === "done").length === job.part_count;
    const stale = isDone ? parts.slice(0, 1) : findStaleParts(snapshot, now);
    if (isDone && stale.length === 0) await this.#with.finish(job);
    await this.#with.sendParts(job, stale);
    // If a worker died, the next one is checked as soon, so that a job whose workers always die ends within ten minutes.
    const isAnyClaimed = parts.some(({ state, lease_until: leaseEnd }) => state === "open" && leaseEnd > 0);
    return stale.length > 0 && !isAnyClaimed ? CHECK_AFTER_SENDING_MS : CHECK_WITHIN_MS;
  }

  async #fail(job: UploadJob, error: string): Promise<void> {
    await this.#with.store.requestStop(job, "failed", { error, unlessPublished: true });
    await this.#with.finish(job);
  }
}
