import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import type { Change } from "../../lib/changes/change.ts";
import { listOrganizations } from "../../lib/operator/administration.ts";
import { resyncFeed } from "../../lib/operator/change-log.ts";
import { createCaller } from "../support/caller.ts";
import { createTestClock } from "../support/clock.ts";
import { operatorOf } from "../support/customer-data.ts";
import { createFeedCustomer, readFeed } from "../support/feed.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";
import { createDelivery } from "../support/stream.ts";
import { allItems } from "../../lib/store/all-items.ts";
import { paginateScan } from "@aws-sdk/lib-dynamodb";

const MINUTE_MS = 60_000;

/** What a restore makes of a table: another one with all of its records, and neither stream nor history. */
async function restoredFrom(runtime: TestRuntime, clock: TestRuntime["clock"]): Promise<TestRuntime> {
  const { WORK_ITEMS_TABLE: restored } = (await createTestRuntime({ clock })).environment;
  const { dynamodb, environment } = runtime;
  const source = { TableName: environment.WORK_ITEMS_TABLE, ConsistentRead: true };
  for (const record of await allItems(paginateScan({ client: dynamodb }, source))) {
    await dynamodb.send(new PutCommand({ TableName: restored, Item: record }));
  }
  return { ...runtime, environment: { ...environment, WORK_ITEMS_TABLE: restored } };
}

/** Applies records of the feed to a copy. */
function follow(copy: Map<string, string>, records: readonly Change[]): void {
  for (const record of records) {
    if ("erased" in record || record.deleted_at !== null) copy.delete(record.id);
    else copy.set(record.id, record.type);
  }
}

test("a table is restored and swapped in, and readers of the feed end up with what it holds", async () => {
  const clock = createTestClock();
  const runtime = await createTestRuntime({ clock });
  const customer = await createFeedCustomer(runtime);
  const items = (type: string, ...names: readonly string[]) => names.map((name) => ({ external_id: name, type }));
  await customer.apply(...items("good", "a", "b", "c"));
  await customer.deliver();
  const restored = await restoredFrom(runtime, clock);

  // After the time of the backup a bad program overwrites everything, and a reader follows it.
  clock.advance(MINUTE_MS);
  await customer.apply(...items("damaged", "a", "b", "c", "d"));
  await customer.deliver();
  const copy = new Map<string, string>();
  const first = await readFeed(customer);
  follow(copy, first.records);
  expect([...copy.values()]).toEqual(["damaged", "damaged", "damaged", "damaged"]);

  // The functions get the restored table. Nothing tells the log, so the reader keeps what is no longer true.
  const swapped = { ...customer, send: createCaller(restored, customer.key) };
  const deliver = await createDelivery(restored);
  await deliver();
  const unaware = await readFeed(swapped, { after: first.mark });
  follow(copy, unaware.records);
  const tableHas = async () => {
    const { body } = await swapped.send("listWorkItems");
    return new Map(body.data.map(({ id, type }) => [id, type]));
  };
  expect([...(await tableHas()).values()]).toEqual(["good", "good", "good"]);
  expect(copy).not.toEqual(await tableHas());

  // `organizations changes --all --resync`
  for (const { organization } of await listOrganizations(operatorOf(restored)))
    await resyncFeed(restored, organization);
  expect(await swapped.send("listWorkItemChanges", { query: { after: unaware.mark } })).toMatchObject({ status: 410 });
  clock.advance(16 * MINUTE_MS);
  copy.clear();
  const again = await readFeed(swapped);
  follow(copy, again.records);
  expect(copy).toEqual(await tableHas());

  // From here on everything works as before.
  await swapped.send("applyWorkItemBatch", { body: { work_items: items("new", "e") } });
  await deliver();
  follow(copy, (await readFeed(swapped, { after: again.mark })).records);
  expect(copy).toEqual(await tableHas());
  expect(copy.size).toBe(4);
});
