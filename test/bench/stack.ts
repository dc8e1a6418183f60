import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "../../lib/client/client.ts";
import { residentMemoryOf, startService } from "../proofs/service-process.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { csvOf, itemOf } from "./uploads-data.ts";

const { fact, within } = rowsOf("stack");
const BATCH_ITEMS = 20_000;
const FILE_ROWS = 100_000;
const SETTLE_MS = 20_000;

/** Memory of a process and the engines that it started. */
const residentMbWithChildren = (pid: number): number => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return [pid, ...children].reduce((sum, each) => sum + residentMemoryOf(each), 0);
};

/** The local stack as a process, as `npm start` runs it: its start and its memory. Linux only. */
export const measure = async (): Promise<BenchRow[]> => {
  const directory = await mkdtemp(join(tmpdir(), "work-items-stack-"));
  const started = performance.now();
  const service = await startService(directory);
  const readyMs = performance.now() - started;
  const { pid, baseUrl, apiKey } = service;
  try {
    const client = createClient({ baseUrl, apiKey });
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
      within("memory after 20,000 items and a file of 100,000 rows", residentMemoryOf(pid), "MB", 700),
      fact("the same with its engines", residentMbWithChildren(pid), "MB"),
    ];
  } finally {
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
};
