import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { localFilesIn, readEnvironmentFile } from "../../infra/environment-file.ts";
import { workItemId } from "../../lib/identity.ts";
import { cpuOf } from "./cpu.ts";
import { createClient } from "../../lib/client/client.ts";
import { residentMemoryOf, type ServiceProcess, startService } from "../hostile/process/service-process.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { csvOf, itemOf } from "./uploads-data.ts";

const { beside, fact, within } = rowsOf("stack");
const BATCH_ITEMS = 20_000;
const FILE_ROWS = 100_000;
const SETTLE_MS = 5000;
const CALLS = 1000;
/** Of the times in `/proc`. */
const TICK_MS = 10;

/** CPU time that a process has used, in milliseconds. */
const cpuMsOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
};

/** CPU of the API's process for a get and a list of 50, and of this one for the reads that they make by the bare SDK. */
const cpuOfReads = async ({ pid, baseUrl, apiKey }: ServiceProcess, directory: string) => {
  const variables = readEnvironmentFile(localFilesIn(directory).stack);
  const through = async (path: string): Promise<number> => {
    const get = async () => {
      const response = await fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${apiKey}` } });
      if (response.status !== 200) throw new Error(await response.text());
      return response.arrayBuffer();
    };
    for (let call = 0; call < CALLS; call++) await get();
    const before = cpuMsOf(pid);
    for (let call = 0; call < CALLS; call++) await get();
    return (cpuMsOf(pid) - before) / CALLS;
  };
  const dynamodb = DynamoDBDocumentClient.from(
    new DynamoDBClient({
      endpoint: variables["AWS_ENDPOINT_URL_DYNAMODB"] ?? "",
      region: "us-east-1",
      credentials: { accessKeyId: "local", secretAccessKey: "local" },
    }),
  );
  const TableName = variables["WORK_ITEMS_TABLE"];
  const keyOf = (index: number) => `ITEM#demo#${workItemId("demo", itemOf("batch", index).external_id)}`;
  const query = () =>
    dynamodb.send(
      new QueryCommand({
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": keyOf(0) },
      }),
    );
  await cpuOf(CALLS, query);
  const get = await through(`/v1/work_items/${workItemId("demo", itemOf("batch", 0).external_id)}`);
  const list = await through("/v1/work_items?limit=50");
  return { get, list, query: await cpuOf(CALLS, query) };
};

/** Memory of a process and the engines that it started. */
const residentMbWithChildren = (pid: number): number => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return [pid, ...children].reduce((sum, each) => sum + residentMemoryOf(each), 0);
};

/** The local service as a process, as `npm start` runs it: its start and its memory. Linux only. */
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

    await sleep(SETTLE_MS);
    const cpu = await cpuOfReads(service, directory);

    return [
      within("start to ready", readyMs, "ms", 3000),
      within("memory after 20,000 items and a file of 100,000 rows", residentMemoryOf(pid), "MB", 700),
      fact("the same with workers and engines", residentMbWithChildren(pid), "MB"),
      beside("CPU of a get through it, beside the bare Query", cpu.get, "ms", cpu.query),
      beside("CPU of a list of 50 through it, beside the same", cpu.list, "ms", cpu.query),
    ];
  } finally {
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
};
