import { workItemId } from "../../lib/identity.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import type { RouteName } from "../support/handlers.ts";
import type { ApiRequest } from "../support/organization.ts";
import { createTestService } from "../support/service.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import { isForItems, meterDynamoDb } from "./dynamodb-meter.ts";
import { csvOf, itemOf } from "./items.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { withEngines } from "./service.ts";

const ITEMS = 1000;
const CSV_ROWS = 10_000;
const ITEMS_PER_BATCH = 100;
const ITEMS_PER_PAGE = 50;
/** A page queries both shards of the list beside its items. */
const PAGE_UNITS = (ITEMS_PER_PAGE + 2) / ITEMS_PER_PAGE;
/** What the records of jobs may add to an item. */
const WRITE_UNITS_BESIDE = 0.02;

const EVENTS = Array.from({ length: 5 }, (_, index) => ({
  external_id: `event-${index}`,
  actor_email: "ann@example.com",
  content: "The state went from open to in progress",
  occurred_at: "2026-01-31T09:30:00Z",
}));

/** What an operation takes for each of its items, which are below 1 KB. */
export interface Operation {
  readonly name: string;
  readonly items: number;
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly run: () => Promise<void>;
}

/** The operations on so many items, in the order in which they must run. */
export const operationsOf = (
  { runtime, organization, call }: Awaited<ReturnType<typeof createTestService>>,
  items: number,
  rows: number,
): readonly Operation[] => {
  const uploads = createUploadHarness(runtime);
  const batches =
    (prefix: string, change: object = {}) =>
    async () => {
      for (let start = 0; start < items; start += ITEMS_PER_BATCH) {
        const length = Math.min(ITEMS_PER_BATCH, items - start);
        const work_items = Array.from({ length }, (_, index) => ({ ...itemOf(prefix, start + index), ...change }));
        await call("applyWorkItemBatch", { body: { work_items } });
      }
    };
  const csv = async (): Promise<void> => {
    const job = await uploads.upload(organization, [...csvOf(rows)].join(""));
    await uploads.split(sqsEvent(splitMessage(job)), lambdaContext(120_000));
    await uploads.drain();
  };
  const onEach =
    (name: RouteName, request: ApiRequest = {}) =>
    async () => {
      for (let index = 0; index < items; index++) {
        const params = { id: workItemId(organization.id, itemOf("batch", index).external_id) };
        await call(name, { params, ...request });
      }
    };
  const createEach = async (): Promise<void> => {
    for (let index = 0; index < items; index++) {
      await call("createWorkItem", { body: { work_item: itemOf("single", index) } });
    }
  };
  const list = async (): Promise<void> => {
    for (let listed = 0; listed < items; listed += ITEMS_PER_PAGE) {
      await call("listWorkItems", { query: { limit: ITEMS_PER_PAGE } });
    }
  };
  const operation = (name: string, run: () => Promise<void>, writeUnits: number, readUnits: number) => ({
    name,
    items: run === csv ? rows : items,
    writeUnits,
    readUnits,
    run,
  });
  return [
    operation("created by batch", batches("batch"), 2, 1),
    operation("sent again by batch, unchanged", batches("batch"), 0, 1),
    operation("updated by batch", batches("batch", { agent_name: "Ann" }), 1, 1),
    operation("changed by batch in what the list filters by", batches("batch", { type: "chat" }), 2, 1),
    operation("moved in the list by batch", batches("batch", { completed_at: "2026-02-01T09:30:00Z" }), 3, 1),
    operation("created by batch with an agent_external_id", batches("agent", { agent_external_id: "ann" }), 3, 1),
    operation("of an agent, changed in what no list shows", batches("agent", { agent_name: "Ann" }), 1, 1),
    operation("of an agent, given to another", batches("agent", { agent_external_id: "bob" }), 4, 1),
    operation("created by batch with five events each", batches("events", { events: EVENTS }), 7, 6),
    operation("created by CSV", csv, 2, 1),
    operation("sent again by CSV, unchanged", csv, 0, 1),
    operation("created one by one", createEach, 2, 0),
    operation("read one by one", onEach("getWorkItem"), 0, 1),
    operation("updated one by one", onEach("updateWorkItem", { body: { work_item: { agent_name: "Bob" } } }), 1, 1),
    operation("listed in pages of 50", list, 0, PAGE_UNITS),
    operation("deleted one by one", onEach("deleteWorkItem"), 3, 1),
    operation("restored by batch", batches("batch"), 3, 1),
  ];
};

/** The capacity units of an item, by operation. */
export const measure = (): Promise<BenchRow[]> =>
  withEngines(async () => {
    const { exactly, within } = rowsOf("cost");
    const service = await createTestService();
    const meterItems = meterDynamoDb(service.runtime, "WORK_ITEMS_TABLE", isForItems);
    const meterJobs = meterDynamoDb(service.runtime, "WORK_ITEMS_TABLE", (input) => !isForItems(input));
    const found: BenchRow[] = [];
    for (const { name, items, writeUnits, readUnits, run } of operationsOf(service, ITEMS, CSV_ROWS)) {
      const use = { writeUnits: 0, readUnits: 0 };
      const beside = await meterJobs(async () => Object.assign(use, await meterItems(run)));
      found.push(
        exactly(`items ${name}`, use.writeUnits / items, "write units an item", writeUnits),
        within(`items ${name}`, use.readUnits / items, "read units an item", readUnits),
        within(`items ${name}`, beside.writeUnits / items, "write units of jobs an item", WRITE_UNITS_BESIDE),
      );
    }
    return found;
  });
