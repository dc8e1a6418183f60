import { randomUUID } from "node:crypto";
import { create as createListWorkItemChanges } from "../../functions/list-work-item-changes.ts";
import { create as createListWorkItems } from "../../functions/list-work-items.ts";
import { create as createRecordChanges } from "../../functions/record-changes.ts";
import { workers } from "../../functions/workers.ts";
import { workItemId } from "../../lib/identity.ts";
import { chunksOf, mapConcurrently } from "../../lib/retry.ts";
import { createQueueDelivery } from "../support/changes-queue.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { createTestOrganization } from "../support/organization.ts";
import { streamEvent, streamRecord } from "../support/stream.ts";
import { compareCpu } from "./cpu.ts";
import { meterDynamoDb } from "./dynamodb-meter.ts";
import { itemOf } from "./items.ts";
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

/** What the log uses, by the engine's count. */
const measureUnits = async (): Promise<BenchRow[]> => {
  const { runtime, organization } = await createBenchService();
  const record = createRecordChanges(runtime);
  const queue = createQueueDelivery(runtime);
  const meterLog = meterDynamoDb(runtime, "CHANGES_TABLE");
  const meterAccess = meterDynamoDb(runtime, "ACCESS_TABLE");

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

/** What the change feed costs writers and readers. */
export const measure = (): Promise<BenchRow[]> =>
  withEngines(async () => [...(await measureUnits()), ...(await measurePages())]);
