import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { create as createListWorkItemChanges } from "../../functions/list-work-item-changes.ts";
import { create as createListWorkItems } from "../../functions/list-work-items.ts";
import { create as createRecordChanges } from "../../functions/record-changes.ts";
import { create as createUpdateWorkItem } from "../../functions/update-work-item.ts";
import { workers } from "../../functions/workers.ts";
import { createClient } from "../../apps/client/client.ts";
import { workItemId } from "../../lib/identity.ts";
import { chunksOf, mapConcurrently } from "../../lib/retry.ts";
import { startService } from "../hostile/process/service-process.ts";
import { createQueueDelivery } from "../support/changes-queue.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { createTestOrganization } from "../support/organization.ts";
import { percentile } from "../support/percentile.ts";
import { streamEvent, streamRecord } from "../support/stream.ts";
import { compareCpu } from "./cpu.ts";
import { isForItems, meterDynamoDb } from "./dynamodb-meter.ts";
import { csvOf, itemOf } from "./items.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { createBenchService, withEngines } from "./service.ts";

const { atMost, exactly, fact, within } = rowsOf("changes");
const { batchSize } = workers.recordChanges.trigger;
const BULK_USE = { writeUnits: 0.04, readUnits: 0.01 };
const LONE_USE = { writeUnits: 2.01, readUnits: 2.01 };
const WORKER_MS = 60_000;
const PAGE = 100;
const CALLS = 50;
const BULK = 100_000;
const LONE = 1000;
const NEIGHBOURS = 10_000;
const ORGANIZATIONS_AT_ONCE = 32;
const LAG_WRITES = 200;
const FILE_ROWS = 20_000;
const LAG_GOAL_MS = 2000;
const POLL_MS = 50;

/** What the writers and the log use, by the engine's count. */
const measureUnits = async (): Promise<BenchRow[]> => {
  const { runtime, organization, prepare, fill } = await createBenchService();
  const record = createRecordChanges(runtime);
  const queue = createQueueDelivery(runtime);
  const meterItems = meterDynamoDb(runtime, "WORK_ITEMS_TABLE", isForItems);
  const meterLog = meterDynamoDb(runtime, "CHANGES_TABLE");
  const meterAccess = meterDynamoDb(runtime, "ACCESS_TABLE");

  const created = await meterItems(() => fill(PAGE, (index) => itemOf("kept", index)));
  const id = workItemId(organization.id, itemOf("kept", 0).external_id);
  const update = prepare(createUpdateWorkItem(runtime), {
    method: "PATCH",
    resource: "/v1/work_items/{id}",
    params: { id },
    body: { work_item: { agent_name: "Ann" } },
  });
  const updated = await meterItems(update);

  const deliver = async (partitionKeys: readonly string[]): Promise<void> => {
    const now = Date.now();
    const records = partitionKeys.map((partitionKey, index) => streamRecord(partitionKey, now, String(index)));
    const { batchItemFailures } = await record(streamEvent(...records), lambdaContext(WORKER_MS));
    if (batchItemFailures.length + (await queue.drain()) > 0) throw new Error("changes are not in the log");
  };
  const keyOf = (of: string): string => `ITEM#${of}#${randomUUID()}`;
  const use = async (run: () => Promise<void>, changes: number) => {
    let [log, access] = [{ readUnits: 0, writeUnits: 0 }, { readUnits: 0 }];
    const startedAt = performance.now();
    access = await meterAccess(async () => {
      log = await meterLog(run);
    });
    const seconds = (performance.now() - startedAt) / 1000;
    return { writes: log.writeUnits / changes, reads: (log.readUnits + access.readUnits) / changes, seconds };
  };
  const bulkKeys = Array.from({ length: BULK }, () => keyOf(organization.id));
  const bulk = await use(async () => {
    for (const keys of chunksOf(bulkKeys, batchSize)) await deliver(keys);
  }, BULK);
  const lone = await use(async () => {
    for (let change = 0; change < LONE; change++) await deliver([keyOf(organization.id)]);
  }, LONE);

  const others = Array.from({ length: NEIGHBOURS }, (_, index) => `neighbour-${index}`);
  await mapConcurrently(others, ORGANIZATIONS_AT_ONCE, (each) => createTestOrganization(runtime, { id: each }));
  const spread = await use(async () => {
    for (const keys of chunksOf(others.map(keyOf), batchSize)) await deliver(keys);
  }, NEIGHBOURS);

  return [
    exactly("write units of an item created in bulk, with the feed", created.writeUnits / PAGE, "units", 2),
    exactly("write units of an update, with the feed", updated.writeUnits, "units", 1),
    exactly("write units of the log per change in bulk", bulk.writes, "units", BULK_USE.writeUnits),
    exactly("read units per change in bulk", bulk.reads, "units", BULK_USE.readUnits),
    exactly("write units of the log per lone change", lone.writes, "units", LONE_USE.writeUnits),
    exactly("read units per lone change", lone.reads, "units", LONE_USE.readUnits),
    fact("time to log 100,000 changes of one organization", bulk.seconds, "s"),
    fact("time to log one change of each of 10,000 organizations", spread.seconds, "s"),
  ];
};

/** A page of the feed beside one of the list. */
const measurePages = async (): Promise<BenchRow[]> => {
  const { runtime, organization, prepare, fill } = await createBenchService();
  await fill(1000, (index) => itemOf("kept", index));
  const record = createRecordChanges(runtime);
  const ids = Array.from({ length: 1000 }, (_, index) =>
    workItemId(organization.id, itemOf("kept", index).external_id),
  );
  const records = ids.map((id) => streamRecord(`ITEM#${organization.id}#${id}`, Date.now()));
  await record(streamEvent(...records), lambdaContext(WORKER_MS));
  await createQueueDelivery(runtime).drain();
  const resource = "/v1/work_items/changes";
  const query = { after: String(organization.changesFrom - 1), limit: PAGE };
  const changes = prepare(createListWorkItemChanges(runtime), { resource, query });
  const list = prepare(createListWorkItems(runtime), { resource: "/v1/work_items", query: { limit: PAGE } });
  const { data } = JSON.parse(await changes()) as { data: readonly unknown[] };
  if (data.length !== PAGE) throw new Error(`a page has ${data.length} changes`);
  const meterItems = meterDynamoDb(runtime);
  const meterLog = meterDynamoDb(runtime, "CHANGES_TABLE");
  let items = 0;
  const log = await meterLog(async () => {
    items = (await meterItems(changes)).requests;
  });
  const cpu = await compareCpu({ changes, list }, { calls: CALLS });
  return [
    within("requests of a page of 100", items + log.requests, "requests", 4),
    atMost("CPU of a page of 100", cpu.changes, "ms", 1.3, cpu.list, "a page of the list"),
  ];
};

/** From a write's response to its change in a page of the feed, on the local service. */
const measureLag = async (): Promise<BenchRow[]> => {
  const directory = await mkdtemp(join(tmpdir(), "work-items-lag-"));
  const { baseUrl, apiKey, stop } = await startService(directory);
  const client = createClient({ baseUrl, apiKey });
  try {
    /** Reads a page. @returns the mark after it */
    const nextAfter = async (after: string, onChange: (id: string) => void): Promise<string> => {
      const { data: page } = await client.http.GET("/v1/work_items/changes", { params: { query: { after } } });
      if (page === undefined) throw new Error("the feed does not answer");
      for (const { id } of page.data) onChange(id);
      return page.meta.page.next;
    };
    const lags = async (name: string): Promise<number[]> => {
      const writtenAt = new Map<string, number>();
      const found: number[] = [];
      let mark = await nextAfter("now", () => undefined);
      const follow = async (): Promise<void> => {
        while (found.length < LAG_WRITES) {
          mark = await nextAfter(mark, (id) => {
            const at = writtenAt.get(id);
            if (at !== undefined) found.push(performance.now() - at);
            writtenAt.delete(id);
          });
          await sleep(POLL_MS);
        }
      };
      const following = follow();
      for (let write = 0; write < LAG_WRITES; write++) {
        const { id } = await client.workItems.create(itemOf(name, write));
        writtenAt.set(id, performance.now());
        await sleep(POLL_MS);
      }
      await following;
      return found;
    };
    const alone = await lags("alone");
    const job = await client.uploads.upload([...csvOf(FILE_ROWS, "file")].join(""));
    const besideFile = await lags("beside");
    const { succeeded_rows: succeeded } = await job.wait();
    if (succeeded !== FILE_ROWS) throw new Error(`${succeeded} rows`);
    return [
      within("lag from write to feed, p50", percentile(alone, 0.5), "ms", LAG_GOAL_MS),
      within("lag from write to feed, p99", percentile(alone, 0.99), "ms", LAG_GOAL_MS),
      fact("the same beside a file of 20,000 rows, p50", percentile(besideFile, 0.5), "ms"),
      fact("the same beside a file of 20,000 rows, p99", percentile(besideFile, 0.99), "ms"),
    ];
  } finally {
    await stop();
    await rm(directory, { recursive: true, force: true });
  }
};

/** What the change feed costs writers and readers, and how late it is. */
export const measure = async (): Promise<BenchRow[]> => [
  ...(await withEngines(async () => [...(await measureUnits()), ...(await measurePages())])),
  ...(await measureLag()),
];
