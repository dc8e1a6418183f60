import { DeleteCommand, paginateScan, PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, test } from "vitest";
import type { Change } from "../../lib/changes/change.ts";
import { listOrganizations } from "../../apps/operator/data/administration.ts";
import { resyncFeed } from "../../apps/operator/data/feed-state.ts";
import { isoTime } from "../../lib/clock.ts";
import { organizationRecordKey } from "../../lib/organizations/access-store.ts";
import { workItemId } from "../../lib/identity.ts";
import { eraseItem } from "../../apps/operator/data/erase-item.ts";
import { eraseOrganization } from "../../apps/operator/data/erase-organization.ts";
import { erasePerson } from "../../apps/operator/data/erase-person.ts";
import { keptInLedger } from "../../apps/operator/data/erasure-ledger.ts";
import { assertLedgerOf, missingErasure, reapplyErasures } from "../../apps/operator/data/reapply-erasures.ts";
import { exportOrganization } from "../../apps/operator/data/export-organization.ts";
import { importOrganization } from "../../apps/operator/data/import-organization.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import { createCaller } from "../support/service.ts";
import { createTestClock } from "../support/clock.ts";
import { operatorOf, overwrite } from "../support/customer-data.ts";
import { createFeedCustomer, readFeed } from "../support/feed.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";
import { createDelivery } from "../support/stream.ts";
import { allItems } from "../../lib/store/all-items.ts";
import { ORIGIN_KEY, readOrigin, writeOrigin } from "../../lib/store/table-origin.ts";

const MINUTE_MS = 60_000;

/** What a restore makes of a table: another one with all of its records, and neither stream nor history. */
async function restoredFrom(runtime: TestRuntime, clock: TestRuntime["clock"]): Promise<TestRuntime> {
  const WORK_ITEMS_TABLE = await restoredTable(runtime, clock, "WORK_ITEMS_TABLE");
  return { ...runtime, environment: { ...runtime.environment, WORK_ITEMS_TABLE } };
}
/** The name of a table that a restore has made. */
async function restoredTable(
  { dynamodb, environment }: TestRuntime,
  clock: TestRuntime["clock"],
  variable: "WORK_ITEMS_TABLE" | "AUDIT_TABLE",
): Promise<string> {
  const { [variable]: restored } = (await createTestRuntime({ clock })).environment;
  const source = { TableName: environment[variable], ConsistentRead: true };
  for (const record of await allItems(paginateScan({ client: dynamodb }, source))) {
    await dynamodb.send(new PutCommand({ TableName: restored, Item: record }));
  }
  return restored;
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

  // The functions get the restored table. The log doesn't notice, so the reader keeps outdated items.
  const swapped = { ...customer, send: createCaller(restored, customer.key) };
  const deliver = await createDelivery(restored);
  await deliver();
  const unaware = await readFeed(swapped, { after: first.cursor });
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
  expect(await swapped.send("listWorkItemChanges", { query: { after: unaware.cursor } })).toMatchObject({
    status: 410,
  });
  clock.advance(16 * MINUTE_MS);
  copy.clear();
  const again = await readFeed(swapped);
  follow(copy, again.records);
  expect(copy).toEqual(await tableHas());

  // From here on everything works as before.
  await swapped.send("applyWorkItemBatch", { body: { work_items: items("new", "e") } });
  await deliver();
  follow(copy, (await readFeed(swapped, { after: again.cursor })).records);
  expect(copy).toEqual(await tableHas());
  expect(copy.size).toBe(4);
});

describe("what was erased since the time that a table was restored to", () => {
  const sleep = async (milliseconds: number): Promise<void> => clock.advance(milliseconds);
  const clock = createTestClock();
  const damaged: unknown[] = [];
  const onDamaged = (error: unknown): void => void damaged.push(error);
  async function* linesOf(text: string): AsyncGenerator<string> {
    yield* text.trimEnd().split("\n");
  }
  const ann = { agent_email: "Ann@example.com", agent_name: "Ann" };
  const event = { external_id: "e", actor_email: "ann@example.com", content: "hello" };

  /** All records of a table of work items, as text. */
  const textOf = async (runtime: TestRuntime): Promise<string> => {
    const source = { TableName: runtime.environment.WORK_ITEMS_TABLE, ConsistentRead: true };
    const records = await allItems(paginateScan({ client: runtime.dynamodb }, source));
    return JSON.stringify(records.map((record) => Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1))));
  };

  test("is erased again, and nothing else is", async () => {
    const runtime = await createTestRuntime({ clock });
    const operator = operatorOf(runtime);
    const acme = await createFeedCustomer(runtime);
    const gone = await createFeedCustomer(runtime);
    await gone.apply({ external_id: "of gone", events: [event] });
    await acme.apply({ external_id: "a", type: "erased", events: [event] }, { external_id: "b", type: "kept", ...ann });
    await acme.apply({ external_id: "c", type: "imported" });
    // What an upload changed, an undo could put back: the person is in its layers, and no longer the agent.
    await acme.apply({ external_id: "d", ...ann });
    const uploads = createUploadHarness(runtime);
    const job = await uploads.upload(acme.organization, "external_id,agent_email\nd,bob@example.com\n");
    await uploads.split(sqsEvent(splitMessage(job)), lambdaContext(MINUTE_MS));
    await uploads.drain();

    // Erased before, and imported again: it keeps its time of creation.
    const id = acme.organization.id;
    let exported = "";
    await exportOrganization(operator, id, async (lines) => void (exported += lines));
    await keptInLedger(operator, id, { item: workItemId(id, "c") }, () => eraseItem(operator, id, "c", { sleep }));
    await Array.fromAsync(importOrganization(operator, id, linesOf(exported)));
    clock.advance(MINUTE_MS);
    const restoredTo = isoTime(clock());
    const restored = await restoredFrom(runtime, clock);
    const before = await textOf(restored);

    clock.advance(MINUTE_MS);
    await keptInLedger(operator, id, { item: workItemId(id, "a") }, () => eraseItem(operator, id, "a", { sleep }));
    await keptInLedger(operator, id, { address: "ann@EXAMPLE.com" }, () =>
      erasePerson(operator, id, "ann@example.com", { sleep }),
    );
    const other = gone.organization.id;
    await keptInLedger(operator, other, {}, () => eraseOrganization(operator, other, { sleep }));
    expect(await textOf(restored)).toBe(before);
    for (const text of ["erased", "Ann@example.com", `#${other}#`]) expect(before).toContain(text);
    expect(before.match(/Ann@example.com/g)).toHaveLength(2);
    const ledger = await allItems(
      paginateScan({ client: runtime.dynamodb }, { TableName: runtime.environment.AUDIT_TABLE }),
    );
    expect(JSON.stringify(ledger)).not.toMatch(/ann|"a"/i);

    const swapped = operatorOf(restored);
    expect(await missingErasure(swapped, swapped)).toBeDefined();
    const first = await reapplyErasures(swapped, swapped, restoredTo, { onDamaged });
    expect(first).toMatchObject({ emptied: 2, present: [] });
    expect(first.deleted).toBeGreaterThanOrEqual(4);
    expect(await missingErasure(swapped, swapped)).toBeUndefined();
    const after = await textOf(restored);
    expect(after).not.toMatch(/ann@example|"erased"|of gone|hello/i);
    expect(after).not.toContain(`#${other}#`);
    for (const kept of ['"kept"', '"imported"', "bob@example.com"]) expect(after).toContain(kept);
    expect(damaged).toEqual([]);
    // An organization that can't be read is named, and what was erased of it stays erased.
    await overwrite(restored, "ACCESS_TABLE", organizationRecordKey(id), "rate");
    expect(await reapplyErasures(swapped, swapped, restoredTo, { onDamaged })).toMatchObject({
      deleted: 0,
      emptied: 0,
      present: [],
    });
    expect(await textOf(restored)).toBe(after);
    expect(damaged).toMatchObject([{ message: expect.stringContaining(organizationRecordKey(id).pk) }]);
  });

  test("is still missing if another ledger was applied", async () => {
    const [runtime, other] = [await createTestRuntime({ clock }), await createTestRuntime({ clock })];
    const operator = operatorOf(runtime);
    const { id } = (await createFeedCustomer(runtime)).organization;
    await keptInLedger(operatorOf(other), id, {}, () => Promise.resolve());
    clock.advance(MINUTE_MS);
    await reapplyErasures(operator, operator, isoTime(clock()), { onDamaged });
    expect(await missingErasure(runtime, other)).toBeDefined();
  });

  test("is missing again once the table was in use, if it was interrupted: it may have come again", async () => {
    const runtime = await createTestRuntime({ clock });
    const operator = operatorOf(runtime);
    const stopped = new Error("stopped");
    const died = keptInLedger(operator, "acme", { address: "ann@example.com" }, () => Promise.reject(stopped));
    await expect(died).rejects.toBe(stopped);
    await reapplyErasures(operator, operator, isoTime(clock()), { onDamaged });
    clock.advance(MINUTE_MS);
    expect(await missingErasure(operator, operator)).toBeUndefined();
    await writeOrigin(runtime);
    expect(await missingErasure(operator, operator)).toBeDefined();
  });

  test("is in the ledger that the table began with, also after its region has moved; in another region it isn't", async () => {
    const [lost, elsewhere] = [await createTestRuntime({ clock }), await createTestRuntime({ clock })];
    const { WORK_ITEMS_TABLE } = lost.environment;
    const moved = { ...elsewhere, environment: { ...elsewhere.environment, WORK_ITEMS_TABLE } };
    await writeOrigin(lost);
    const before = await readOrigin(lost);
    clock.advance(MINUTE_MS);
    await writeOrigin(moved);
    expect(await readOrigin(moved)).toEqual({ ...before, at: isoTime(clock()) });
    await writeOrigin({ ...moved, environment: { ...moved.environment, REGION_CODE: "eu" } });
    const ledger = elsewhere.environment.AUDIT_TABLE;
    expect(await readOrigin(moved)).toEqual({ region: "eu", ledger, at: isoTime(clock()) });
  });

  test("is looked for in no ledger unless one is named, if a table doesn't say where it comes from", async () => {
    const runtime = await createTestRuntime({ clock });
    const restored = await restoredFrom(runtime, clock);
    await restored.dynamodb.send(
      new DeleteCommand({ TableName: restored.environment.WORK_ITEMS_TABLE, Key: ORIGIN_KEY }),
    );
    await expect(assertLedgerOf(restored, runtime, false)).rejects.toThrow("--ledger <table>");
    await assertLedgerOf(restored, runtime, true);
  });
});
