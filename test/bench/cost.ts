import { randomUUID } from "node:crypto";
import { create as createApplyWorkItemBatch } from "../../functions/apply-work-item-batch.ts";
import { create as createCreateWorkItem } from "../../functions/create-work-item.ts";
import { create as createDeleteWorkItem } from "../../functions/delete-work-item.ts";
import { create as createGetWorkItem } from "../../functions/get-work-item.ts";
import { create as createListWorkItems } from "../../functions/list-work-items.ts";
import { create as createUpdateWorkItem } from "../../functions/update-work-item.ts";
import type { ApiHandler } from "../../lib/http/chain.ts";
import { dollarsOf, OPERATIONS, type Use } from "../../infra/operation-costs.ts";
import { PRICES, UNIT_PRICES } from "../../infra/prices.ts";
import { workItemId } from "../../lib/identity.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { apiEvent, type ApiRequest, createTestOrganization } from "../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import { isForItems, meterDynamoDb } from "./dynamodb-meter.ts";
import { withEngines } from "./engines.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { measureLayers } from "./undo-cost.ts";
import { csvOf, itemOf } from "./uploads-data.ts";

const { exactly, fact, within } = rowsOf("cost");
const unitPrices = UNIT_PRICES["us-east-1"];
const DOLLARS = {
  writeUnits: unitPrices.write,
  readUnits: unitPrices.read,
  apiRequests: PRICES.apiRequest,
  invocations: PRICES.invocation,
  queueRequests: PRICES.queueRequest,
  objectWrites: PRICES.objectWrite,
  objectReads: PRICES.objectRead,
} as const;
type Meter = Record<keyof typeof DOLLARS, number>;

const ITEMS = 1000;
const ITEMS_PER_BATCH = 100;
const ITEMS_PER_PAGE = 50;
const EVENTS_PER_ITEM = 5;
const CSV_ROWS = 10_000;

/** Operations whose use is measured here. */
type Measured = Exclude<keyof typeof OPERATIONS, `change feed${string}`>;
/** What jobs, chunks, keys and limits may add to the derived dollars of a million items. */
const DOLLARS_BESIDE = 0.03;

const READS: readonly string[] = ["GetItemCommand", "BatchGetItemCommand", "QueryCommand"];

interface Consumed {
  readonly CapacityUnits?: number;
}

/** Counts the usage of a runtime's clients: capacity units in DynamoDB's responses, requests to S3 and SQS. */
const measureRequests = ({ dynamodb, s3, sqs }: TestRuntime, meter: Meter): void => {
  dynamodb.middlewareStack.add(
    (next, context) => async (request) => {
      Object.assign(request.input, { ReturnConsumedCapacity: "TOTAL" });
      const response = await next(request);
      const { ConsumedCapacity = [] } = response.output as { ConsumedCapacity?: Consumed | Consumed[] };
      const units = [ConsumedCapacity].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
      meter[READS.includes(String(context.commandName)) ? "readUnits" : "writeUnits"] += units;
      return response;
    },
    { step: "initialize", priority: "high", name: "measureRequests" },
  );
  s3.middlewareStack.add(
    (next, context) => (request) => {
      meter[context.commandName === "PutObjectCommand" ? "objectWrites" : "objectReads"]++;
      return next(request);
    },
    { step: "initialize", name: "measureRequests" },
  );
  sqs.middlewareStack.add(
    (next, context) => (request) => {
      meter.queueRequests++;
      // A message is deleted once, after the invocation that handled it.
      if (context.commandName === "DeleteMessageCommand") meter.invocations++;
      return next(request);
    },
    { step: "initialize", name: "measureRequests" },
  );
};

const chunk = (index: number): number[] =>
  Array.from({ length: ITEMS_PER_BATCH }, (_, item) => index * ITEMS_PER_BATCH + item);

const measureOperations = async (): Promise<BenchRow[]> => {
  const meter = Object.fromEntries(Object.keys(DOLLARS).map((name) => [name, 0])) as Meter;
  const runtime = await createTestRuntime();
  const { organization, key } = await createTestOrganization(runtime, { rate: 100_000, burst: 100_000 });
  measureRequests(runtime, meter);
  const meterItems = meterDynamoDb(runtime, "WORK_ITEMS_TABLE", isForItems);
  const uploads = createUploadHarness(runtime);

  const call = async (handler: ApiHandler, request: ApiRequest): Promise<void> => {
    meter.apiRequests++;
    meter.invocations++;
    const { statusCode, body } = await handler(apiEvent({ ...request, key }), lambdaContext());
    if (statusCode >= 400) throw new Error(`${request.resource} responded with ${statusCode}: ${body}`);
  };
  const applyBatch = createApplyWorkItemBatch(runtime);
  const batches = async (inputOf: (index: number) => object): Promise<void> => {
    for (let index = 0; index < ITEMS / ITEMS_PER_BATCH; index++) {
      const body = { work_items: chunk(index).map(inputOf) };
      await call(applyBatch, { method: "POST", resource: "/v1/work_items/batch", body });
    }
  };
  const onEach =
    (handler: ApiHandler, requestOf: (index: number) => Partial<ApiRequest>) => async (): Promise<void> => {
      for (let index = 0; index < ITEMS; index++) {
        const params = { id: workItemId(organization.id, itemOf("batch", index).external_id) };
        await call(handler, { resource: "/v1/work_items/{id}", params, ...requestOf(index) });
      }
    };
  const events = Array.from({ length: EVENTS_PER_ITEM }, (_, index) => ({
    external_id: `event-${index}`,
    actor_email: "ann@example.com",
    content: "The state went from open to in progress",
    occurred_at: "2026-01-31T09:30:00Z",
  }));
  const list = createListWorkItems(runtime);
  const csv = async (prefix: string): Promise<void> => {
    const job = await uploads.upload(organization, [...csvOf(CSV_ROWS, prefix)].join(""));
    await uploads.split(sqsEvent(splitMessage(job)), lambdaContext(120_000));
    await uploads.drain();
  };
  const rows = randomUUID();
  const batchesOf =
    (prefix: string, change: object = {}) =>
    () =>
      batches((index) => ({ ...itemOf(prefix, index), ...change }));

  const runs: Readonly<Record<Measured, () => Promise<void>>> = {
    "created by batch": batchesOf("batch"),
    "sent again by batch, unchanged": batchesOf("batch"),
    "updated by batch": batchesOf("batch", { agent_name: "Ann" }),
    "moved in the list by batch": batchesOf("batch", { completed_at: "2026-02-01T09:30:00Z" }),
    "created by batch with an agent_external_id": batchesOf("agent", { agent_external_id: "ann" }),
    "created by batch with five events each": batchesOf("events", { events }),
    "created by CSV": () => csv(rows),
    "sent again by CSV, unchanged": () => csv(rows),
    "created one by one": onEach(createCreateWorkItem(runtime), (index) => ({
      method: "POST",
      resource: "/v1/work_items",
      params: {},
      body: { work_item: itemOf("single", index) },
    })),
    "read one by one": onEach(createGetWorkItem(runtime), () => ({})),
    "updated one by one": onEach(createUpdateWorkItem(runtime), () => ({
      method: "PATCH",
      body: { work_item: { agent_name: "Bob" } },
    })),
    "listed in pages of 50": async () => {
      for (let page = 0; page < ITEMS / ITEMS_PER_PAGE; page++) {
        await call(list, { resource: "/v1/work_items", query: { limit: ITEMS_PER_PAGE } });
      }
    },
    "deleted one by one": onEach(createDeleteWorkItem(runtime), () => ({ method: "DELETE" })),
  };

  const found: BenchRow[] = [];
  for (const [operation, run] of Object.entries(runs)) {
    const expected: Use = OPERATIONS[operation as Measured];
    for (const one of Object.keys(meter) as (keyof Meter)[]) meter[one] = 0;
    const use = await meterItems(run);
    const items = operation.includes("CSV") ? CSV_ROWS : ITEMS;
    const name = `items ${operation}`;
    const derived = dollarsOf(expected, unitPrices) * 1e6;
    const dollars = (Object.keys(meter) as (keyof Meter)[]).reduce(
      (sum, one) => sum + meter[one] * DOLLARS[one] * 1e6,
      0,
    );
    found.push(
      exactly(name, use.writeUnits / items, "write units an item", expected.writeUnits),
      within(name, use.readUnits / items, "read units an item", expected.readUnits),
      fact(name, (meter.writeUnits - use.writeUnits) / items, "write units beside them"),
      within(name, dollars / items, "dollars a million items", derived + DOLLARS_BESIDE),
    );
  }
  const layers = await createTestRuntime();
  return [...found, ...(await measureLayers(layers, (await createTestOrganization(layers)).organization))];
};

/** Costs of a million items in requests and capacity units, without functions' time and storage. */
export const measure = (): Promise<BenchRow[]> => withEngines(measureOperations);
