import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { DeleteMessageCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { create as createApplyWorkItemBatch } from "../../functions/apply-work-item-batch.ts";
import { create as createApplyUploadChunk } from "../../functions/apply-upload-chunk.ts";
import { create as createSplitUpload } from "../../functions/split-upload.ts";
import { create as createUploadWorkItems } from "../../functions/upload-work-items.ts";
import type { QueueWorker } from "../../lib/aws/queue-worker.ts";
import { mapConcurrently } from "../../lib/retry.ts";
import { objectKeys } from "../../lib/uploads/files/upload-objects.ts";
import { CLAIM_MS } from "../../lib/uploads/job/claim.ts";
import { createRequestUndo } from "../../lib/uploads/job/undos.ts";
import type { JobKey } from "../../lib/uploads/job/upload-record.ts";
import { UploadStore } from "../../lib/uploads/job/upload-store.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { multipart } from "../support/uploads/multipart.ts";
import { splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import { medianOf } from "./cpu.ts";
import { csvOf, itemOf, MAPPING, mappedCsvOf } from "./items.ts";
import { createBenchService } from "./service.ts";

/** This process runs only the functions and delivers their messages, so that its memory is theirs. */

/** Chunks that one instance applies at the same time, as its trigger says, and simultaneous calls of batches. */
const AT_ONCE = 4;
const WORKER_MS = 120_000;
const ROWS_COMPARED = 20_000;
const ROWS_WARM_UP = 2000;
const ROUNDS = 4;

/** Sent when a job is created: where to put its file. */
export interface Ready {
  readonly bucket: string;
  readonly key: string;
}
/** Result of applying one file. */
export interface Finished {
  readonly succeeded: number;
  readonly perSecond: number;
  /** Largest resident set of the process, in MB. */
  readonly peakMb: number;
}
/** Results of a file whose rows all changed an item, and of its undo. */
export interface Undone {
  readonly updated: Finished;
  readonly undone: Finished;
}
/** Speed and CPU time of one way to apply items. */
interface Rate {
  readonly perSecond: number;
  /** CPU time of this process per 1,000 rows or items, in milliseconds. */
  readonly cpuMs: number;
}
/** Rows without a mapping, rows with one, and items of batches. */
export type Comparison = Readonly<Record<"csv" | "mappedCsv" | "batch", Rate>> & {
  readonly tenRowsMs: number;
};

/** An undo waits until no worker of the import can live any more. */
let aheadMs = 0;
const { runtime, organization, prepare } = await createBenchService({ clock: () => Date.now() + aheadMs });
const { environment, sqs } = runtime;
const store = new UploadStore(runtime);
const split = createSplitUpload(runtime);
const upload = createUploadWorkItems(runtime);

interface Queue {
  readonly url: string;
  readonly worker: QueueWorker;
}
const splits: Queue = { url: environment.SPLIT_QUEUE_URL, worker: split };
const chunks: Queue = { url: environment.CHUNKS_QUEUE_URL, worker: createApplyUploadChunk(runtime) };

/** Receives so many messages of a queue and invokes its function with each. @returns the running deliveries */
const deliver = async ({ url, worker }: Queue, messages: number): Promise<Promise<void>[]> => {
  if (messages === 0) return [];
  const request = new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: messages });
  const { Messages = [] } = await sqs.send(request);
  return Messages.map(async ({ Body = "", ReceiptHandle = "" }) => {
    const { batchItemFailures } = await worker(sqsEvent(Body), lambdaContext(WORKER_MS));
    if (batchItemFailures.length > 0) return;
    await sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
  });
};

/** Runs a job whose file is in the bucket, delivering messages as soon as they are sent. */
const runJob = async (job: JobKey): Promise<Finished> => {
  const start = performance.now();
  const splitting = new Set<Promise<void>>();
  const applying = new Set<Promise<void>>();
  const add = (running: Set<Promise<void>>, work: Promise<void>): void => {
    running.add(work);
    void work.finally(() => running.delete(work));
  };
  add(
    splitting,
    split(sqsEvent(splitMessage(job)), lambdaContext(WORKER_MS)).then(() => undefined),
  );
  while (splitting.size + applying.size > 0) {
    await Promise.race([...splitting, ...applying]);
    for (const work of await deliver(splits, AT_ONCE)) add(splitting, work);
    for (const work of await deliver(chunks, AT_ONCE - applying.size)) add(applying, work);
  }
  const ended = await store.readJob(job);
  if (ended?.status !== "completed") throw new Error(`the job is ${ended?.status}: ${ended?.error}`);
  const { succeeded_rows: succeeded } = ended;
  const perSecond = (succeeded / (performance.now() - start)) * 1000;
  return { succeeded, perSecond, peakMb: process.resourceUsage().maxRSS / 1024 };
};

/** Makes the call that uploads a file, and the job that runs it. */
const prepareUpload = (file: string, fields: Readonly<Record<string, unknown>> = {}) => {
  const send = prepare(upload, multipart(file, fields));
  return async (): Promise<void> => {
    const { data } = JSON.parse(await send()) as { data: { id: string } };
    await runJob({ organization: organization.id, id: data.id });
  };
};

const applyBatch = createApplyWorkItemBatch(runtime);
/** Makes the calls of batches of a hundred. */
const prepareBatches = (items: number) => {
  const prefix = randomUUID();
  const calls = Array.from({ length: items / 100 }, (_, call) => {
    const work_items = Array.from({ length: 100 }, (__, index) => itemOf(prefix, call * 100 + index));
    return prepare(applyBatch, { method: "POST", resource: "/v1/work_items/batch", body: { work_items } });
  });
  return async (): Promise<void> => void (await mapConcurrently(calls, AT_ONCE, (call) => call()));
};

const timed = async (run: () => Promise<void>): Promise<Rate> => {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await run();
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: ROWS_COMPARED / seconds, cpuMs: (user + system) / ROWS_COMPARED };
};

const compareWays = async (): Promise<Comparison> => {
  const csvUpload = (rows: number) => prepareUpload([...csvOf(rows, randomUUID())].join(""));
  /** Each makes its requests beforehand. */
  const ways = {
    csv: csvUpload,
    mappedCsv: (rows: number) => prepareUpload(mappedCsvOf(rows, randomUUID()), { mapping: MAPPING }),
    batch: prepareBatches,
  };
  const names = Object.keys(ways) as (keyof typeof ways)[];
  const rates = names.map((): Rate[] => []);
  for (const name of names) await ways[name](ROWS_WARM_UP)();
  for (let round = 0; round < ROUNDS; round++) {
    const turns = names.map((name, index) => ({ index, run: ways[name](ROWS_COMPARED) }));
    // The engine becomes slower as it fills, so the order alternates.
    for (const { index, run } of round % 2 === 0 ? turns : turns.toReversed()) rates[index]!.push(await timed(run));
  }
  const medians = names.map((name, index) => [
    name,
    {
      perSecond: medianOf(rates[index]!.map(({ perSecond }) => perSecond)),
      cpuMs: medianOf(rates[index]!.map(({ cpuMs }) => cpuMs)),
    },
  ]);
  const small = csvUpload(10);
  const start = performance.now();
  await small();
  return { ...(Object.fromEntries(medians) as Record<keyof typeof ways, Rate>), tenRowsMs: performance.now() - start };
};

/** Creates a job and waits until the other process has put its file into the bucket. */
const receiveFile = async (): Promise<JobKey> => {
  const { job } = await store.create(organization, { id: randomUUID(), origin: "form" }, Date.now() + 3_600_000);
  process.send?.({ bucket: environment.UPLOADS_BUCKET, key: objectKeys.source(job) } satisfies Ready);
  await once(process, "message");
  return job;
};

/** Creates items by one file, changes them by another, and undoes that. */
const runUndo = async (): Promise<Undone> => {
  await runJob(await receiveFile());
  const job = await receiveFile();
  const updated = await runJob(job);
  const { job: undo } = await createRequestUndo(runtime, store)(organization, job.id, { dryRun: false });
  aheadMs = CLAIM_MS;
  const undone = await runJob(undo);
  const { undone_rows: rows } = (await store.readJob(undo))!;
  if (rows !== updated.succeeded) throw new Error(`${rows} of ${updated.succeeded} items were undone`);
  return { updated, undone };
};

const MODES: Readonly<Record<string, () => Promise<unknown>>> = {
  compare: compareWays,
  file: async () => runJob(await receiveFile()),
  undo: runUndo,
};
process.send?.(await MODES[process.argv[2] ?? ""]?.());
process.once("disconnect", () => process.exit());
