import { randomUUID } from "node:crypto";
import { create as createApplyWorkItemBatch } from "../../functions/apply-work-item-batch.ts";
import { create as createCreateWorkItem } from "../../functions/create-work-item.ts";
import { create as createDeleteWorkItem } from "../../functions/delete-work-item.ts";
import { create as createGetWorkItem } from "../../functions/get-work-item.ts";
import { create as createListWorkItems } from "../../functions/list-work-items.ts";
import { create as createUpdateWorkItem } from "../../functions/update-work-item.ts";
import type { ApiHandler } from "../../lib/http/chain.ts";
import { workItemId } from "../../lib/identity.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { apiEvent, type ApiRequest, createTestOrganization } from "../support/organization.ts";
import { createTestRuntime } from "../support/runtime.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import { isForItems, meterDynamoDb } from "./dynamodb-meter.ts";
import { withEngines } from "./engines.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { measureLayers } from "./undo-cost.ts";
import { csvOf, itemOf } from "./uploads-data.ts";

const { exactly, within } = rowsOf("cost");

const ITEMS = 1000;
const ITEMS_PER_BATCH = 100;
const ITEMS_PER_PAGE = 50;
const EVENTS_PER_ITEM = 5;
const CSV_ROWS = 10_000;

/** Units of an item below 1 KB by operation. */
const UNITS = {
  "created by batch": { writeUnits: 2, readUnits: 1 },
  "sent again by batch, unchanged": { writeUnits: 0, readUnits: 1 },
  "updated by batch": { writeUnits: 1, readUnits: 1 },
  "moved in the list by batch": { writeUnits: 3, readUnits: 1 },
  "created by batch with an agent_external_id": { writeUnits: 3, readUnits: 1 },
  "created by batch with five events each": { writeUnits: 7, readUnits: 6 },
  "created by CSV": { writeUnits: 2, readUnits: 1 },
  "sent again by CSV, unchanged": { writeUnits: 0, readUnits: 1 },
  "created one by one": { writeUnits: 2, readUnits: 0 },
  "read one by one": { writeUnits: 0, readUnits: 1 },
  "updated one by one": { writeUnits: 1, readUnits: 1 },
  "listed in pages of 50": { writeUnits: 0, readUnits: 1.04 },
  "deleted one by one": { writeUnits: 3, readUnits: 1 },
} as const;
type Operation = keyof typeof UNITS;
/** What the records of jobs may add to an item. */
const WRITE_UNITS_BESIDE = 0.02;

const chunk = (index: number): number[] =>
  Array.from({ length: ITEMS_PER_BATCH }, (_, item) => index * ITEMS_PER_BATCH + item);

const measureOperations = async (): Promise<BenchRow[]> => {
  const runtime = await createTestRuntime();
  const { organization, key } = await createTestOrganization(runtime, { rate: 100_000, burst: 100_000 });
  const meterItems = meterDynamoDb(runtime, "WORK_ITEMS_TABLE", isForItems);
  const meterJobs = meterDynamoDb(runtime, "WORK_ITEMS_TABLE", (input) => !isForItems(input));
  const uploads = createUploadHarness(runtime);

  const call = async (handler: ApiHandler, request: ApiRequest): Promise<void> => {
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

  const runs: Readonly<Record<Operation, () => Promise<void>>> = {
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
    const { writeUnits, readUnits } = UNITS[operation as Operation];
    const use = { writeUnits: 0, readUnits: 0 };
    const beside = await meterJobs(async () => Object.assign(use, await meterItems(run)));
    const items = operation.includes("CSV") ? CSV_ROWS : ITEMS;
    const name = `items ${operation}`;
    found.push(
      exactly(name, use.writeUnits / items, "write units an item", writeUnits),
      within(name, use.readUnits / items, "read units an item", readUnits),
      within(name, beside.writeUnits / items, "write units of jobs an item", WRITE_UNITS_BESIDE),
    );
  }
  const layers = await createTestRuntime();
  return [...found, ...(await measureLayers(layers, (await createTestOrganization(layers)).organization))];
};

/** The capacity units of an item, by operation. */
export const measure = (): Promise<BenchRow[]> => withEngines(measureOperations);
