import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, it } from "vitest";
import { workItemId } from "../../../../lib/identity.ts";
import { countForErasure, eraseOrganization } from "../../../../apps/operator/data/erase-organization.ts";
import { erasePerson } from "../../../../apps/operator/data/erase-person.ts";
import { traverseOrganization } from "../../../../apps/operator/data/traverse-organization.ts";
import { planKeyOf } from "../../../../lib/work-items/planned-records.ts";
import { eventKeyOf, itemKey } from "../../../../lib/work-items/work-item-record.ts";
import { createTestClock, type TestClock } from "../../../support/clock.ts";
import {
  allRecords,
  createCustomer,
  type Customer,
  fill,
  operatorOf,
  tracesOf,
} from "../../../support/customer-data.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";
import { freezeIndex } from "../../../support/faults.ts";

const MINUTE_MS = 60_000;
const ANN = "ann@example.com";
let clock: TestClock;
let runtime: TestRuntime;
let acme: Customer;
beforeEach(async () => {
  clock = createTestClock();
  runtime = await createTestRuntime({ clock });
  acme = await createCustomer(runtime, "acme");
});

const sleep = async (milliseconds: number): Promise<void> => clock.advance(milliseconds);
const applyMany = async ({ apply }: Customer, count: number): Promise<void> => {
  for (let first = 0; first < count; first += 100) {
    const length = Math.min(100, count - first);
    await apply(...Array.from({ length }, (_, index) => ({ external_id: `item-${first + index}` })));
  }
};
const remove = (externalId: string) => acme.send("deleteWorkItem", { params: { id: workItemId("acme", externalId) } });
const put = (Item: Record<string, unknown>) =>
  runtime.dynamodb.send(new PutCommand({ TableName: runtime.environment.WORK_ITEMS_TABLE, Item }));
/** An event whose item is gone, as of a call that was under way when the item was erased. */
const putOrphan = () =>
  put({
    ...eventKeyOf("acme", workItemId("acme", "gone"), "late"),
    external_id: "late",
    actor_email: ANN,
    created_at: "2026-01-01T00:00:00.000Z",
    version: 1,
    writes: "1:a",
  });
const orphan = async () => (await allRecords(runtime)).find((record) => record["external_id"] === "late");

describe("a traversal of an organization", () => {
  /** The keys that a traversal visits, in order. */
  const traverse = async (listedLast = false) => {
    const keys: string[] = [];
    const { readUnits } = await traverseOrganization(
      runtime,
      acme.organization,
      async ({ records }) => void keys.push(...records.map(({ pk, sk }) => `${pk} ${sk}`)),
      { listedLast },
    );
    return { keys, readUnits };
  };
  const ofItem = (keys: readonly string[], externalId: string) =>
    keys.filter((key) => key.includes(workItemId("acme", externalId)));

  it("visits each record once, of deleted and of restored items too, and plans of dry runs", async () => {
    await fill(runtime, acme);
    const form = { upload: { filename: "tried.csv", size: 10, dry_run: true } };
    const { data } = (await acme.send("uploadWorkItems", { body: form })).body;
    await put({ ...planKeyOf("acme", data.id, itemKey("acme", workItemId("acme", "kept"))), plan: "{}" });
    await remove("kept");
    await acme.apply({ external_id: "kept" });
    const { keys } = await traverse();
    const owned = (await allRecords(runtime)).map(({ pk, sk }) => `${String(pk)} ${String(sk)}`);
    const expected = owned.filter((key) => /^(ITEM|UPLOAD|CONVERSATION|DRY_RUN)#/.test(key));
    expect(expected).toHaveLength(8);
    expect(keys.toSorted()).toEqual(expected.toSorted());
    expect(ofItem(keys, "kept")[1]).toMatch(/ EVENT#/);
    expect(ofItem(keys, "deleted")).toHaveLength(1);
  });

  it("visits an item with more events than one response has, and its own record first or last", async () => {
    const events = Array.from({ length: 30 }, (_, index) => ({
      external_id: `${index}`,
      content: String(index).repeat(30_000),
    }));
    await acme.apply({ external_id: "large", events });
    const { keys } = await traverse();
    expect(keys).toHaveLength(31);
    expect(keys[0]).toMatch(/ #ITEM$/);
    expect((await traverse(true)).keys).toEqual(keys.toReversed());
  });

  it("costs what the organization holds, whatever others hold", async () => {
    await applyMany(acme, 50);
    const alone = await traverse();
    await applyMany(await createCustomer(runtime, "other"), 5000);
    expect(await traverse()).toEqual(alone);
    expect(alone.keys).toHaveLength(50);
    // One for each item, and the pages of the index.
    expect(alone.readUnits).toBeLessThan(65);
  });
});

it("an erasure waits until the index has shown everything", async () => {
  await fill(runtime, acme);
  const thaw = freezeIndex(runtime.dynamodb, "listing");
  await countForErasure(operatorOf(runtime), "acme");
  await acme.apply({ external_id: "unseen", events: [{ external_id: "unseen" }] });
  expect((await countForErasure(operatorOf(runtime), "acme")).erased.work_items).toBe(3);
  // A file may come by a form until 15 minutes from now: that is the last possible write.
  const shownAt = clock() + 29 * MINUTE_MS;
  const { scanned } = await eraseOrganization(operatorOf(runtime), "acme", {
    withoutScan: true,
    sleep: async (milliseconds) => {
      await sleep(milliseconds);
      if (clock() >= shownAt) thaw();
    },
  });
  expect(scanned).toBe(false);
  expect(await tracesOf(runtime, "acme")).toEqual([]);
});

describe("what no list leads to", () => {
  it("is erased by the scan at the end, and stays without it", async () => {
    await putOrphan();
    const { scanned } = await eraseOrganization(operatorOf(runtime), "acme", { sleep, withoutScan: true });
    expect({ scanned, kept: await orphan() }).toEqual({ scanned: false, kept: expect.anything() });
    await createCustomer(runtime, "acme");
    const receipt = await eraseOrganization(operatorOf(runtime), "acme", { sleep });
    expect([receipt.scanned, receipt.erased.events, await orphan()]).toEqual([true, 1, undefined]);
  });

  it("loses the person by the scan at the end, and keeps it without", async () => {
    await putOrphan();
    const without = await erasePerson(runtime, "acme", ANN, { sleep, withoutScan: true });
    expect([without.scanned, without.events, (await orphan())?.["actor_email"]]).toEqual([false, 0, ANN]);
    const { scanned, events } = await erasePerson(runtime, "acme", ANN, { sleep });
    expect([scanned, events, (await orphan())?.["actor_email"] ?? null]).toEqual([true, 1, null]);
  });
});
