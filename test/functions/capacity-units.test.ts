import { expect, test } from "vitest";
import { operationsOf } from "../bench/cost.ts";
import { isForItems, meterDynamoDb } from "../bench/dynamodb-meter.ts";
import { createTestOrganization } from "../support/organization.ts";
import { createTestRuntime } from "../support/runtime.ts";
import { createCaller } from "../support/service.ts";

/** DynamoDB Local doesn't report units of statements or of items that don't exist. */
const reportsUnits = process.env["DYNAMODB_ENDPOINT"] === undefined;
/** One page of the list. */
const ITEMS = 50;

/**
 * The embedded engine counts as DynamoDB does: an item below 1 KB is one write unit of the table, one of each index that
 * it enters, leaves or changes in, two of an index in which it moves, and two in a transaction.
 */
test.runIf(reportsUnits)("operations take so many write and read units an item", async () => {
  const runtime = await createTestRuntime();
  // Of some IDs, a shard has so many of a page's entries that it is read twice.
  const organization = await createTestOrganization(runtime, { id: "units" });
  const service = { runtime, ...organization, call: createCaller(runtime, organization.key) };
  const meter = meterDynamoDb(service.runtime, "WORK_ITEMS_TABLE", isForItems);
  for (const { name, items, run, writeUnits, readUnits } of operationsOf(service, ITEMS, ITEMS)) {
    const used = await meter(run);
    expect([name, used.writeUnits / items, used.readUnits / items]).toEqual([name, writeUnits, readUnits]);
  }
});
