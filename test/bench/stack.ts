import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { create as createGetWorkItem } from "../../functions/get-work-item.ts";
import { createClient } from "../../lib/client/client.ts";
import { workItemId } from "../../lib/identity.ts";
import { residentMemoryOf, startService } from "../proofs/service-process.ts";
import { cpuOf, medianOf } from "./cpu.ts";
import { withEngines } from "./engines.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { createBenchService } from "./service.ts";
import { csvOf, itemOf } from "./uploads-data.ts";

const { atMost, fact, within } = rowsOf("stack");
const GETS = 500;
const ROUNDS = 5;
/** V8 compiles again and again what runs often: a get takes less until some thousands of them. */
const WARM_UP_ROUNDS = 8;
const BATCH_ITEMS = 20_000;
const FILE_ROWS = 100_000;
/** The kernel counts a process's CPU time in hundredths of a second. */
const TICK_MS = 10;
const POLL_MS = 10;
const SETTLE_MS = 20_000;
/** The stack uploads a file of its own when it is ready, which takes half a second. */
const REHEARSED_AFTER_MS = 2000;

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

/** CPU milliseconds of a get by the function alone, as one warm instance. */
const measureHandler = async (): Promise<number> => {
  const { runtime, organization, prepare, fill } = await createBenchService();
  await fill(1, (index) => itemOf("kept", index));
  const params = { id: workItemId(organization.id, itemOf("kept", 0).external_id) };
  const get = prepare(createGetWorkItem(runtime), { resource: "/v1/work_items/{id}", params });
  await cpuOf(WARM_UP_ROUNDS * GETS, get);
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await cpuOf(GETS, get));
  return medianOf(rounds);
};

const measureStack = async (handlerMs: number): Promise<BenchRow[]> => {
  const directory = await mkdtemp(join(tmpdir(), "work-items-stack-"));
  const started = performance.now();
  const service = await startService(directory);
  const readyMs = performance.now() - started;
  const { pid, baseUrl, apiKey } = service;
  try {
    await sleep(REHEARSED_AFTER_MS);
    const [idle, idleWithEngines] = [residentMemoryOf(pid), residentMbWithChildren(pid)];

    const client = createClient({ baseUrl, apiKey });
    const firstUpload = performance.now();
    const small = await client.uploads.upload([...csvOf(10, "small")].join(""));
    while ((await client.uploads.get(small.id)).status !== "completed") await sleep(POLL_MS);
    const firstUploadMs = performance.now() - firstUpload;

    const { id } = await client.workItems.create(itemOf("kept", 0));
    const rounds: number[] = [];
    for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
      const before = cpuOfProcess(pid);
      for (let call = 0; call < GETS; call++) await client.workItems.get(id);
      rounds.push((cpuOfProcess(pid) - before) / GETS);
    }
    const getMs = medianOf(rounds.slice(WARM_UP_ROUNDS));

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
      within("memory when idle", idle, "MB", 250),
      fact("the same with its engines", idleWithEngines, "MB"),
      within("first file of 10 rows, from upload to completed", firstUploadMs, "ms", 300),
      atMost("CPU of a get", getMs, "ms", 1.5, handlerMs, "the function's alone"),
      within("memory after 20,000 items and a file of 100,000 rows", residentMemoryOf(pid), "MB", 400),
      fact("the same with its engines", residentMbWithChildren(pid), "MB"),
    ];
  } finally {
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
};

/** The local stack as a process, as `npm start` runs it: memory, start, and what it adds to a call. Linux only. */
export const measure = async (): Promise<BenchRow[]> => measureStack(await withEngines(measureHandler));
