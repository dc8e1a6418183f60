import { create as createSweepUploads } from "../../../functions/sweep-uploads.ts";
import { queueWorker } from "../../../lib/aws/queue-worker.ts";
import { createSendAgain } from "../../../lib/aws/send-messages.ts";
import { objectKeys } from "../../../lib/uploads/files/upload-objects.ts";
import type { RowListName } from "../../../lib/uploads/files/row-list.ts";
import type { JobKey } from "../../../lib/uploads/job/upload-record.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { isWrite, type RequestFault } from "../../support/uploads/fault-injection.ts";
import { s3Event } from "../../support/uploads/upload-harness.ts";
import { createWorkers, DEFAULT_WINDOWS, randomSizes } from "../../support/uploads/upload-workers.ts";
import type { Uploads } from "../callers/uploader.ts";
import type { Queues } from "./queues.ts";
import { NO_RESPONSE, type World } from "./world.ts";

const WORKER_MS = 120_000;
const MINUTE_MS = 60_000;
/** How long a worker of each queue runs, and when SQS delivers a message again whose worker was stopped: as in the template. */
const SPLIT_QUEUE = { workerMs: 15 * MINUTE_MS, visibilityMs: 90 * MINUTE_MS, batch: 1 };
const CHUNKS_QUEUE = { workerMs: WORKER_MS, visibilityMs: 12 * MINUTE_MS, batch: 4 };
/**
 * Claims in a row without progress after which nothing more goes wrong with a job: after three its file, or the row at
 * which its workers die, fails.
 */
const LOSSES_MAX = 2;
/** Seeds kill a worker at each of so many writes in turn, before it or after it. */
const FATAL_WRITES = 101;

/** The workers of upload jobs, what starts them, and the sweep. */
export class UploadWorkers implements Uploads {
  readonly #world: World;
  readonly #queues: Queues;
  readonly #plain: ReturnType<typeof createWorkers>;
  readonly checksSize = false;
  /** Jobs whose items take seconds for each request. */
  readonly slow = new Set<string>();
  /** When something last went wrong with a sweep, or one of a job's workers was started. */
  readonly #touchedAt = new Map<string, number>();
  #sweepFailedAt = 0;
  /** Writes of all workers so far. One of them kills its worker, with each seed another one. */
  #writes = 0;
  readonly #fatalWrite: number;
  readonly #working = new Map<string, number>();
  isOver = false;

  constructor(world: World, queues: Queues) {
    this.#world = world;
    this.#queues = queues;
    this.#plain = createWorkers(world.base);
    this.#fatalWrite = world.hostilities.chosen.has("deaths") ? world.seed % FATAL_WRITES : Infinity;
    const { SPLIT_QUEUE_URL, CHUNKS_QUEUE_URL } = world.base.environment;
    for (const { url, workerMs, visibilityMs, batch } of [
      { url: SPLIT_QUEUE_URL, ...SPLIT_QUEUE },
      { url: CHUNKS_QUEUE_URL, ...CHUNKS_QUEUE },
    ]) {
      const sendAgain = createSendAgain(world.runtime.sqs, url);
      queues.add({
        url,
        visibilityMs,
        batch,
        mayLose: true,
        invoke: async (records) => {
          const jobs = records.map(({ body }) => jobIn(body));
          const losses = await world.outside(() => Promise.all(jobs.map((job) => this.lossesOf(job))));
          const isSlow = jobs.some(({ id }) => this.slow.has(id));
          const isCalm = isSlow || losses.some((each) => each >= LOSSES_MAX);
          const sizes = isSlow ? DEFAULT_WINDOWS : randomSizes(world.random);
          jobs.forEach((job) => this.#begin(job));
          const { handle } = createWorkers(world.runtime, sizes);
          const result = await world.call(
            workerMs,
            {
              isCalm,
              isSlow,
              faultOf: (command) => this.#kill(command),
              onEnd: () => jobs.forEach((job) => this.#end(job)),
            },
            (clock) =>
              queueWorker(world.runtime, handle, sendAgain)({ Records: records }, lambdaContext(workerMs, clock)),
          );
          if (result === NO_RESPONSE) return undefined;
          return new Set(result.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
        },
      });
    }
    this.#sweepEachMinute();
  }

  #kill(command: string): RequestFault | undefined {
    if (!isWrite(command) || this.#writes++ !== this.#fatalWrite) return undefined;
    return this.#world.seed % 2 === 0 ? "kill before" : "kill after";
  }
  #begin({ id }: JobKey): void {
    this.#working.set(id, (this.#working.get(id) ?? 0) + 1);
    this.#touchedAt.set(id, this.#world.clock());
  }
  #end({ id }: JobKey): void {
    this.#working.set(id, (this.#working.get(id) ?? 1) - 1);
    this.#touchedAt.set(id, this.#world.clock());
  }

  #sweepEachMinute(): void {
    this.#world.at(this.#world.clock() + MINUTE_MS, () => {
      if (this.isOver) return;
      this.#sweepEachMinute();
      void this.sweep(this.#world.random() < 0.6);
    });
  }
  async sweep(isCalm: boolean): Promise<void> {
    const { runtime, clock } = this.#world;
    const onFault = (): void => void (this.#sweepFailedAt = clock());
    // One that fails is followed by the next one.
    await this.#world
      .call(WORKER_MS, { isCalm, onFault }, (own) => createSweepUploads(runtime)({}, lambdaContext(WORKER_MS, own)))
      .catch(() => undefined);
  }

  /** Since when a job has had neither worker nor message, in milliseconds since the epoch; undefined while it has one. */
  idleSince({ id }: JobKey): number | undefined {
    const isWorking = (this.#working.get(id) ?? 0) > 0 || this.#queues.count(id) > 0;
    return isWorking ? undefined : Math.max(this.#touchedAt.get(id) ?? 0, this.#sweepFailedAt);
  }

  /** Writes the file of a job to the bucket, as S3 does with a posted form. */
  async postFile(job: JobKey, text: string): Promise<boolean> {
    const { objects } = this.#plain;
    await this.#world.outside(() => objects.write(objectKeys.source(job), Buffer.from(text), "text/csv"));
    return true;
  }
  /** Sends S3's message that the file has come. */
  announce(job: JobKey): void {
    this.#queues.put(this.#world.base.environment.SPLIT_QUEUE_URL, JSON.stringify(s3Event(job)));
  }

  /** How often a job's file, or one of its shards, was claimed in a row without progress, or its messages lost, at most. */
  async lossesOf(job: JobKey): Promise<number> {
    const snapshot = await this.#plain.store.read(job);
    if (snapshot === undefined) return 0;
    const { job: found, shards } = snapshot;
    const ofFile = found.chunks === undefined ? [found.split_attempts, found.resent] : [];
    return Math.max(0, ...ofFile, ...shards.flatMap(({ attempts, resent }) => [attempts, resent]));
  }
  /** A list of an ended job. */
  async listOf(job: JobKey, name: RowListName): Promise<string> {
    return this.#world.outside(async () => {
      const found = await this.#plain.store.readJob(job);
      const key = objectKeys.list(found ?? job, name, found?.merged ?? "");
      const source = await this.#plain.objects.head(key);
      return source ? (await this.#plain.objects.readWhole(key)).toString() : "";
    });
  }
}

/** The job that a message of one of the queues names. */
function jobIn(body: string): JobKey {
  const parsed = JSON.parse(body) as Partial<JobKey>;
  const [, organization = "", id = ""] = /uploads\/([^/]+)\/([^/]+)\//.exec(body) ?? [];
  return { organization: parsed.organization ?? decodeURIComponent(organization), id: parsed.id ?? id };
}
