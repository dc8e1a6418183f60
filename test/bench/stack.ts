import { closeSync, openSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { create as createGetWorkItem } from "../../functions/get-work-item.ts";
import { writeLog } from "../../infra/local/lambda/log.mjs";
import { createClient } from "../../lib/client/client.ts";
import { workItemId } from "../../lib/identity.ts";
import { residentMemoryOf, startService } from "../proofs/service-process.ts";
import { cpuOf, medianOf } from "./cpu.ts";
import { withEngines } from "./engines.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { createBenchService } from "./service.ts";
import { csvOf, itemOf } from "./uploads-data.ts";

const { beside, fact, within } = rowsOf("stack");
const GETS = 500;
const ROUNDS = 9;
/** V8 compiles again and again what runs often: a get takes less until some thousands of them. */
const WARM_UP_GETS = 10_000;
const BATCH_ITEMS = 20_000;
const FILE_ROWS = 100_000;
/** The kernel counts a process's CPU time in hundredths of a second. */
const TICK_MS = 10;
const POLL_MS = 10;
const SETTLE_MS = 20_000;

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);

/** Memory of a process and the engines that it started. */
const residentMbWithChildren = (pid: number): number =>
  [pid, ...childrenOf(pid)].reduce((sum, each) => sum + residentMemoryOf(each), 0);

/** CPU milliseconds of a process since its start. */
const cpuOfProcess = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  const [user, system] = [fields[11], fields[12]].map(Number) as [number, number];
  return (user + system) * TICK_MS;
};

/** Runs the function of this process with the log lines that it writes on AWS, which go nowhere. */
const logged = async <T>(run: () => Promise<T>): Promise<T> => {
  const nowhere = openSync(devNull, "w");
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (line: string | Uint8Array): boolean => {
    writeLog([nowhere], line);
    return true;
  };
  try {
    return await run();
  } finally {
    process.stdout.write = write;
    closeSync(nowhere);
  }
};

/** A get by the function alone, as one warm instance in this process. */
const prepareGet = async (): Promise<() => Promise<string>> => {
  process.env["POWERTOOLS_LOG_LEVEL"] = "INFO";
  const { runtime, organization, prepare, fill } = await createBenchService();
  await fill(1, (index) => itemOf("kept", index));
  const params = { id: workItemId(organization.id, itemOf("kept", 0).external_id) };
  return prepare(createGetWorkItem(runtime), { resource: "/v1/work_items/{id}", params });
};

/**
 * CPU milliseconds of a get by the function alone and through the stack, in turns, so that whatever else the machine
 * does meets both.
 */
const compareGets = async (alone: () => Promise<string>, pid: number, throughStack: () => Promise<unknown>) => {
  const measure = {
    alone: (calls: number) => logged(() => cpuOf(calls, alone)),
    throughStack: async (calls: number) => {
      const before = cpuOfProcess(pid);
      for (let call = 0; call < calls; call++) await throughStack();
      return (cpuOfProcess(pid) - before) / calls;
    },
  };
  await measure.alone(WARM_UP_GETS);
  await measure.throughStack(WARM_UP_GETS);
  const found = { alone: [] as number[], throughStack: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    found.alone.push(await measure.alone(GETS));
    found.throughStack.push(await measure.throughStack(GETS));
  }
  return { alone: medianOf(found.alone), throughStack: medianOf(found.throughStack) };
};

const measureStack = async (getAlone: () => Promise<string>): Promise<BenchRow[]> => {
  const directory = await mkdtemp(join(tmpdir(), "work-items-stack-"));
  const started = performance.now();
  const service = await startService(directory);
  const readyMs = performance.now() - started;
  const { pid, baseUrl, apiKey } = service;
  try {
    const [idle, idleWithEngines] = [residentMemoryOf(pid), residentMbWithChildren(pid)];

    const client = createClient({ baseUrl, apiKey });
    const firstUpload = performance.now();
    const small = await client.uploads.upload([...csvOf(10, "small")].join(""));
    while ((await client.uploads.get(small.id)).status !== "completed") await sleep(POLL_MS);
    const firstUploadMs = performance.now() - firstUpload;

    const { id } = await client.workItems.create(itemOf("kept", 0));
    const get = await compareGets(getAlone, pid, () => client.workItems.get(id));

    let created = 0;
    const items = Array.from({ length: BATCH_ITEMS }, (_, index) => itemOf("batch", index));
    for await (const { status } of client.workItems.apply(items)) if (status === "created") created++;
    const large = await client.uploads.upload([...csvOf(FILE_ROWS, "file")].join(""));
    const { succeeded_rows: succeeded } = await large.wait();
    if (created !== BATCH_ITEMS || succeeded !== FILE_ROWS) throw new Error(`${created} items, ${succeeded} rows`);

    // Instances that are not needed any more end after a few seconds.
    await sleep(SETTLE_MS);

    return [
      within("start to ready", readyMs, "ms", 3000),
      fact("memory when idle", idle, "MB"),
      fact("the same with its engines", idleWithEngines, "MB"),
      fact("first file of 10 rows, from upload to completed", firstUploadMs, "ms"),
      beside("CPU of a get, and of the function's alone", get.throughStack, "ms", get.alone),
      within("memory after 20,000 items and a file of 100,000 rows", residentMemoryOf(pid), "MB", 700),
      fact("the same with its engines", residentMbWithChildren(pid), "MB"),
    ];
  } finally {
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
};

/** The local stack as a process, as `npm start` runs it: memory, start, and what it adds to a call. Linux only. */
export const measure = async (): Promise<BenchRow[]> => withEngines(async () => measureStack(await prepareGet()));
