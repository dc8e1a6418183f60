import { expect, test } from "vitest";
import { workItemId } from "../../lib/identity.ts";
import { isForItems, meterDynamoDb } from "../bench/dynamodb-meter.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import type { RouteName } from "../support/handlers.ts";
import type { ApiRequest } from "../support/organization.ts";
import { createTestService } from "../support/service.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";

/** DynamoDB Local doesn't report units of statements or of items that don't exist. */
const isTold = process.env["DYNAMODB_ENDPOINT"] === undefined;
const ITEMS = 3;
const EVENTS = [{ external_id: "opened" }, { external_id: "closed" }];

/**
 * The embedded engine counts as DynamoDB does: an item below 1 KB is one write unit of the table, one of each index that
 * it enters, leaves or changes in, two of an index in which it moves, and two in a transaction.
 */
test.runIf(isTold)("operations take so many write and read units an item, by the responses of DynamoDB", async () => {
  const { runtime, organization, call } = await createTestService();
  const meter = meterDynamoDb(runtime, "WORK_ITEMS_TABLE", isForItems);
  const { upload, split, drain } = createUploadHarness(runtime);

  const externalIds = (prefix: string): string[] => Array.from({ length: ITEMS }, (_, index) => `${prefix}-${index}`);
  const batch =
    (prefix: string, fields: object = {}) =>
    async () => {
      const work_items = externalIds(prefix).map((external_id) => ({ external_id, type: "call", ...fields }));
      await call("applyWorkItemBatch", { body: { work_items } });
    };
  const csv = (prefix: string) => async () => {
    const rows = externalIds(prefix).map((id) => `${id},call,ann\n`);
    const job = await upload(organization, `external_id,type,agent_external_id\n${rows.join("")}`);
    await split(sqsEvent(splitMessage(job)), lambdaContext(120_000));
    await drain();
  };
  const oneByOne =
    (name: RouteName, request: ApiRequest = {}) =>
    async () => {
      for (const id of externalIds("item").map((externalId) => workItemId(organization.id, externalId))) {
        await call(name, { params: { id }, ...request });
      }
    };
  const createOneByOne = async () => {
    for (const external_id of externalIds("single"))
      await call("createWorkItem", { body: { work_item: { external_id } } });
  };

  const operations: readonly (readonly [name: string, run: () => Promise<void>, writes: number, reads: number])[] = [
    ["created by batch", batch("item"), 2, 1],
    ["sent again, unchanged", batch("item"), 0, 1],
    ["changed in what the list does not show", batch("item", { agent_name: "Ann" }), 1, 1],
    ["changed in what the list filters by", batch("item", { type: "chat" }), 2, 1],
    ["moved in the list", batch("item", { completed_at: "2026-01-31T09:30:00Z" }), 3, 1],
    ["created with two events", batch("events", { events: EVENTS }), 4, 3],
    ["created with an agent's external_id", batch("agent", { agent_external_id: "ann" }), 3, 1],
    ["the same, changed in what no list shows", batch("agent", { agent_name: "Ann" }), 1, 1],
    ["the same, given to another agent", batch("agent", { agent_external_id: "bob" }), 4, 1],
    ["created by CSV with an agent's external_id", csv("row"), 3, 1],
    ["sent again by CSV, unchanged", csv("row"), 0, 1],
    ["created one by one", createOneByOne, 2, 0],
    ["read one by one", oneByOne("getWorkItem"), 0, 1],
    ["updated one by one", oneByOne("updateWorkItem", { body: { work_item: { agent_name: "Bob" } } }), 1, 1],
    ["deleted one by one", oneByOne("deleteWorkItem"), 3, 1],
    ["restored by batch", batch("item"), 3, 1],
  ];
  for (const [name, run, writes, reads] of operations) {
    const { writeUnits, readUnits } = await meter(run);
    expect([name, writeUnits / ITEMS, readUnits / ITEMS]).toEqual([name, writes, reads]);
  }
});
