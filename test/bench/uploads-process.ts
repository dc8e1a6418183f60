import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { DeleteMessageCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { create as createApplyUploadChunk } from "../../functions/apply-upload-chunk.ts";
import { create as createApplyWorkItemBatch } from "../../functions/apply-work-item-batch.ts";
import { create as createSplitLargeUpload } from "../../functions/split-large-upload.ts";
import { create as createSplitUpload } from "../../functions/split-upload.ts";
import { create as createUploadWorkItems } from "../../functions/upload-work-items.ts";
import { mapConcurrently } from "../../lib/retry.ts";
import type { QueueWorker } from "../../lib/aws/queue-worker.ts";
import { objectKeys } from "../../lib/uploads/files/upload-objects.ts";
import { CLAIM_MS } from "../../lib/uploads/job/bucket-store.ts";
import { createRequestUndo } from "../../lib/uploads/job/undos.ts";
import type { JobKey } from "../../lib/uploads/job/upload-record.ts";
import { UploadStore } from "../../lib/uploads/job/upload-store.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { apiEvent, createTestOrganization } from "../support/organization.ts";
import { medianOf } from "../support/percentile.ts";
import { createTestRuntime } from "../support/runtime.ts";
import { splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import { createFloors } from "./floors.ts";
import { csvOf, itemOf, MAPPING, mappedCsvOf } from "./uploads-data.ts";
import { addLatencies, redirectRowWrites } from "./latency-of-aws.ts";

/** This process runs only the functions and delivers their messages, so that its memory is theirs. */

/** Chunks that one instance applies at the same time, as its trigger says, and simultaneous batch calls. */
const AT_ONCE = 4;
const WORKER_MS = 120_000;
/** As many rows as fit into one request with every cell in quotes. */
const ROWS_COMPARED = 20_000;
const ROWS_WARM_UP = 2000;
const ROUNDS = 4;
/** Numbers of chunks that one instance applies at the same time. */
const BATCH_SIZES = [1, 4];

/** Sent when the job is created: where to put its file. */
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
/** How busy one instance is with a file. */
export interface Busy {
  /** CPU time ÷ time, while chunks are applied. */
  readonly busy: number;
  readonly perSecond: number;
}
/** Speed and CPU time of one way to apply items. */
export interface Rate {
  readonly perSecond: number;
  /** CPU time of this process per 1,000 rows or items, in milliseconds. */
  readonly cpuMs: number;
}
/** CSV compared with the batch endpoint. */
export interface Comparison {
  readonly csv: Rate;
  /** A file with every cell in quotes, which needs the parser. */
  readonly quotedCsv: Rate;
  /** The same items with a mapping. */
  readonly mappedCsv: Rate;
  readonly batch: Rate;
  /** The writes of the same items by the bare SDK. */
  readonly bareWrites: Rate;
  readonly tenRowsMs: number;
}

/** An undo waits until no worker of the import can live any more. */
let aheadMs = 0;
const clock = (): number => Date.now() + aheadMs;
const runtime = await createTestRuntime({ clock });
const { organization, key } = await createTestOrganization(runtime, { rate: 100_000, burst: 100_000 });
const { environment, sqs } = runtime;
const store = new UploadStore(runtime);
const split = createSplitUpload(runtime);
const upload = createUploadWorkItems(runtime);
const applyBatch = createApplyWorkItemBatch(runtime);

interface Queue {
  readonly url: string;
  readonly worker: QueueWorker;
}
const splits: Queue = { url: environment.SPLIT_QUEUE_URL, worker: split };
const largeSplits: Queue = { url: environment.LARGE_SPLIT_QUEUE_URL, worker: createSplitLargeUpload(runtime) };
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

/** Runs a job whose file is in the bucket, delivering messages as soon as they are sent. @returns the succeeded rows */
const runJob = async (job: JobKey): Promise<number> => {
  const first = split(sqsEvent(splitMessage(job)), lambdaContext(WORKER_MS)).then(() => undefined);
  const splitting = new Set<Promise<void>>([first]);
  const applying = new Set<Promise<void>>();
  while (splitting.size + applying.size > 0) {
    for (const running of [splitting, applying]) {
      for (const work of running) void work.finally(() => running.delete(work));
    }
    await Promise.race([...splitting, ...applying]);
    for (const queue of [splits, largeSplits]) {
      for (const work of await deliver(queue, AT_ONCE)) splitting.add(work);
    }
    for (const work of await deliver(chunks, AT_ONCE - applying.size)) applying.add(work);
  }
  const ended = await store.readJob(job);
  if (ended?.status !== "completed") throw new Error(`the job is ${ended?.status}: ${ended?.error}`);
  return ended.succeeded_rows;
};

const uploadEvent = (file: string, mapping?: object) =>
  apiEvent({
    method: "POST",
    resource: "/v1/work_items/upload",
    key,
    body: Buffer.from(
      `--edge\r\ncontent-disposition: form-data; name="upload[file]"; filename="a.csv"\r\n\r\n${file}\r\n` +
        (mapping
          ? `--edge\r\ncontent-disposition: form-data; name="upload[mapping]"\r\n\r\n${JSON.stringify(mapping)}\r\n`
          : "") +
        "--edge--\r\n",
    ),
    headers: { "Content-Type": "multipart/form-data; boundary=edge" },
  });
const uploadAndRun = async (event: ReturnType<typeof uploadEvent>): Promise<void> => {
  const { body } = await upload(event, lambdaContext());
  const { data } = JSON.parse(body) as { data: { id: string } };
  await runJob({ organization: organization.id, id: data.id });
};

const batchEvents = (items: number) => {
  const prefix = randomUUID();
  return Array.from({ length: items / 100 }, (_, call) =>
    apiEvent({
      method: "POST",
      resource: "/v1/work_items/batch",
      key,
      body: { work_items: Array.from({ length: 100 }, (_item, index) => itemOf(prefix, call * 100 + index)) },
    }),
  );
};
const applyBatchOf = (event: ReturnType<typeof apiEvent>) => async (): Promise<void> => {
  const { statusCode, body } = await applyBatch(event, lambdaContext());
  if (statusCode !== 200) throw new Error(`the batch endpoint responded with ${statusCode}: ${body}`);
};

/** Runs every piece of work, so many at the same time as an instance applies parts. */
const runAtOnce = async (work: readonly (() => Promise<void>)[]): Promise<void> => {
  await mapConcurrently(work, AT_ONCE, (run) => run());
};

const timed = async (count: number, run: () => Promise<void>): Promise<Rate> => {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await run();
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: count / seconds, cpuMs: (user + system) / count };
};
const medianRateOf = (rates: readonly Rate[]): Rate => ({
  perSecond: medianOf(rates.map(({ perSecond }) => perSecond)),
  cpuMs: medianOf(rates.map(({ cpuMs }) => cpuMs)),
});

const compareWithBatch = async (): Promise<Comparison> => {
  const csv: Rate[] = [];
  const quotedCsv: Rate[] = [];
  const mappedCsv: Rate[] = [];
  const batch: Rate[] = [];
  const bareWrites: Rate[] = [];
  const floors = await createFloors();
  const insertsOf = (rows: number) => Array.from({ length: rows / 100 }, () => floors.insert(randomUUID()));
  await runAtOnce(batchEvents(ROWS_WARM_UP).map(applyBatchOf));
  await runAtOnce(insertsOf(ROWS_WARM_UP));
  await uploadAndRun(uploadEvent([...csvOf(ROWS_WARM_UP, randomUUID())].join("")));
  for (let round = 0; round < ROUNDS; round++) {
    const batches = batchEvents(ROWS_COMPARED).map(applyBatchOf);
    const inserts = insertsOf(ROWS_COMPARED);
    const event = uploadEvent([...csvOf(ROWS_COMPARED, randomUUID())].join(""));
    const quoted = uploadEvent([...csvOf(ROWS_COMPARED, randomUUID(), '"')].join(""));
    const mapped = uploadEvent(mappedCsvOf(ROWS_COMPARED, randomUUID()), MAPPING);
    const turns = [
      async () => batch.push(await timed(ROWS_COMPARED, () => runAtOnce(batches))),
      async () => bareWrites.push(await timed(ROWS_COMPARED, () => runAtOnce(inserts))),
      async () => csv.push(await timed(ROWS_COMPARED, () => uploadAndRun(event))),
      async () => quotedCsv.push(await timed(ROWS_COMPARED, () => uploadAndRun(quoted))),
      async () => mappedCsv.push(await timed(ROWS_COMPARED, () => uploadAndRun(mapped))),
    ];
    // The engine becomes slower as it fills, so the order alternates.
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
  }
  const small = uploadEvent([...csvOf(10, randomUUID())].join(""));
  const start = performance.now();
  await uploadAndRun(small);
  return {
    csv: medianRateOf(csv),
    quotedCsv: medianRateOf(quotedCsv),
    mappedCsv: medianRateOf(mappedCsv),
    batch: medianRateOf(batch),
    bareWrites: medianRateOf(bareWrites),
    tenRowsMs: performance.now() - start,
  };
};

/** Applies the parts of a file in one instance, so many of them at the same time as one delivery has. */
const applyIn = async (batchSize: number, rows: number): Promise<Busy> => {
  const { body } = await upload(uploadEvent([...csvOf(rows, randomUUID())].join("")), lambdaContext());
  const { data } = JSON.parse(body) as { data: { id: string } };
  const job = { organization: organization.id, id: data.id };
  await split(sqsEvent(splitMessage(job)), lambdaContext(WORKER_MS));
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (;;) {
    const request = new ReceiveMessageCommand({ QueueUrl: chunks.url, MaxNumberOfMessages: batchSize });
    const { Messages = [] } = await sqs.send(request);
    if (Messages.length === 0) break;
    await chunks.worker(sqsEvent(...Messages.map(({ Body }) => Body)), lambdaContext(WORKER_MS));
    for (const { ReceiptHandle } of Messages) {
      await sqs.send(new DeleteMessageCommand({ QueueUrl: chunks.url, ReceiptHandle }));
    }
  }
  const milliseconds = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  const ended = await store.readJob(job);
  if (ended?.succeeded_rows !== rows) throw new Error(`${ended?.succeeded_rows} of ${rows} rows were applied`);
  return { busy: (user + system) / 1000 / milliseconds, perSecond: (rows / milliseconds) * 1000 };
};

const withLatencies = async (): Promise<readonly [number, Busy][]> => {
  await uploadAndRun(uploadEvent([...csvOf(ROWS_WARM_UP, randomUUID())].join("")));
  addLatencies(runtime);
  const countRowWrites = await redirectRowWrites(runtime);
  const found: [number, Busy][] = [];
  for (const batchSize of BATCH_SIZES) found.push([batchSize, await applyIn(batchSize, ROWS_COMPARED)]);
  const written = await countRowWrites();
  if (written !== BATCH_SIZES.length * ROWS_COMPARED) throw new Error(`${written} rows were written`);
  return found;
};

const timeJob = async (job: JobKey): Promise<Finished> => {
  const start = performance.now();
  const succeeded = await runJob(job);
  const seconds = (performance.now() - start) / 1000;
  return { succeeded, perSecond: succeeded / seconds, peakMb: process.resourceUsage().maxRSS / 1024 };
};

/** Creates a job and waits until the other process has put its file into the bucket. */
const receiveFile = async (): Promise<JobKey> => {
  const { job } = await store.create(organization, { id: randomUUID(), origin: "form" }, Date.now() + 3_600_000);
  process.send?.({ bucket: environment.UPLOADS_BUCKET, key: objectKeys.source(job) } satisfies Ready);
  await once(process, "message");
  return job;
};

const runFile = async (): Promise<Finished> => timeJob(await receiveFile());

/** Creates items by one file, changes them by another, and undoes that. */
const runUndo = async (): Promise<Undone> => {
  await runJob(await receiveFile());
  const job = await receiveFile();
  const updated = await timeJob(job);
  const { job: undo } = await createRequestUndo(runtime, store)(organization, job.id, { dryRun: false });
  aheadMs = CLAIM_MS;
  const undone = await timeJob(undo);
  const { undone_rows: rows } = (await store.readJob(undo))!;
  if (rows !== updated.succeeded) throw new Error(`${rows} of ${updated.succeeded} items were undone`);
  return { updated, undone };
};

const MODES: Readonly<Record<string, () => Promise<unknown>>> = {
  compare: compareWithBatch,
  file: runFile,
  undo: runUndo,
  latencies: withLatencies,
};
process.send?.(await MODES[process.argv[2] ?? ""]?.());
process.once("disconnect", () => process.exit());
