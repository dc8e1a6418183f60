import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { isoTime } from "../../../lib/clock.ts";
import { workItemId } from "../../../lib/identity.ts";
import { changeOrganization } from "../../../apps/operator/data/administration.ts";
import { organizationRecordKey } from "../../../lib/organizations/access-store.ts";
import { createEraseExpired } from "../../../lib/retention/retention-run.ts";
import { eventKeyOf, itemKeyOf } from "../../../lib/work-items/work-item-record.ts";
import { createTestClock } from "../../support/clock.ts";
import { type Customer, overwrite, tracesOf } from "../../support/customer-data.ts";
import { aroundRequests, type Fault, injectFaults } from "../../support/faults.ts";
import { createFeedCustomer, readFeed } from "../../support/feed.ts";
import { chunksOf } from "../../../lib/retry.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const clock = createTestClock();
const sleep = async (milliseconds: number): Promise<void> => clock.advance(milliseconds);

let runtime: TestRuntime;
let acme: Awaited<ReturnType<typeof createFeedCustomer>>;
beforeEach(async () => {
  runtime = await createTestRuntime({ clock });
  acme = await createFeedCustomer(runtime);
});

const ago = (days: number): string => isoTime(clock() - days * DAY_MS);
const keep = ({ organization }: Customer, days: number) =>
  changeOrganization(runtime, organization.id, { retention_days: days });
const run = (minutes = 15) => createEraseExpired(runtime, sleep)(clock() + minutes * MINUTE_MS);
const listed = async ({ send }: Customer): Promise<string[]> =>
  (await send("listWorkItems")).body.data.map(({ external_id: id }) => id).toSorted();
/** Keys of the items in the table, including deleted ones. */
const itemsOf = async ({ organization }: Customer): Promise<string[]> =>
  (await tracesOf(runtime, organization.id)).filter((key) => /^ITEM#.* #ITEM$/.test(key));
/** Whether a request deletes the record of an item itself, or of an event. */
const deletes = (sortKey: string, command: string, input: object): boolean =>
  JSON.stringify(command === "DeleteItemCommand" ? { Delete: input } : input).match(
    new RegExp(`"Delete":{"TableName":"[^"]*","Key":{"pk":{"S":"[^"]*"},"sk":{"S":"${sortKey}`),
  ) !== null;
const events = (count: number) => Array.from({ length: count }, (_, index) => ({ external_id: `e${index}` }));

/** Gives a customer items of which "kept" ones must stay after 30 days. */
async function fillOld({ apply, send, organization }: Customer): Promise<void> {
  await apply(
    { external_id: "created long ago", events: events(99) },
    { external_id: "deleted long ago" },
    { external_id: "kept: completed since" },
  );
  for (let more = 0; more < 2; more++) {
    const event = events(99).map(({ external_id: id }) => ({ external_id: `${id} ${more}` }));
    await apply({ external_id: "created long ago", events: event });
  }
  await send("deleteWorkItem", { params: { id: workItemId(organization.id, "deleted long ago") } });
  clock.advance(40 * DAY_MS);
  await apply(
    { external_id: "completed long ago", completed_at: ago(31), events: events(2) },
    { external_id: "kept: completed since", completed_at: ago(1) },
    { external_id: "kept: not yet", completed_at: ago(29) },
    { external_id: "kept: new" },
  );
}
const KEPT = ["kept: completed since", "kept: new", "kept: not yet"];

describe("work items that are older than their organization keeps them", () => {
  it("are erased with their events, deleted ones too, and the feed says so", async () => {
    await fillOld(acme);
    await acme.deliver();
    const before = await readFeed(acme);
    await run();
    expect(await listed(acme)).toHaveLength(5);
    await keep(acme, 30);
    await run();
    expect(await listed(acme)).toEqual(KEPT);
    const ids = ["created long ago", "deleted long ago", "completed long ago"].map((name) =>
      workItemId(acme.organization.id, name),
    );
    const left = JSON.stringify(await tracesOf(runtime, acme.organization.id));
    for (const id of ids) expect(left).not.toContain(`ITEM#${acme.organization.id}#${id}`);
    await acme.deliver();
    const { records } = await readFeed(acme, { after: before.cursor });
    expect(records.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(records.every((record) => "erased" in record)).toBe(true);
    await keep(acme, 0);
    clock.advance(40 * DAY_MS);
    await run();
    expect(await listed(acme)).toEqual(KEPT);
  });

  it.each([0, 3, 150])("stay if they are completed in the moment before, with all %i events", async (count) => {
    const { id } = acme.organization;
    await acme.apply({ external_id: "a" });
    for (const each of chunksOf(events(count), 50)) await acme.apply({ external_id: "a", events: each });
    clock.advance(40 * DAY_MS);
    const removeFaults = injectFaults(runtime.dynamodb, async (command, input): Promise<Fault> => {
      if (!deletes("#ITEM", command, input)) return "none";
      removeFaults();
      await acme.apply({ external_id: "a", completed_at: ago(0) });
      return "none";
    });
    await keep(acme, 30);
    await run();
    removeFaults();
    expect(await itemsOf(acme)).toHaveLength(1);
    const left = await tracesOf(runtime, id);
    expect(left.filter((key) => / EVENT#/.test(key))).toHaveLength(count);
  });

  it("are erased with all events, even while others write to them and the table is busy", async () => {
    const { id } = acme.organization;
    await acme.apply({ external_id: "a" });
    for (const each of chunksOf(events(150), 50)) await acme.apply({ external_id: "a", events: each });
    clock.advance(40 * DAY_MS);
    let cancelled = 0;
    aroundRequests(runtime.dynamodb, async (command, _, send) => {
      if (command !== "TransactWriteItemsCommand" || cancelled++ % 2 > 0) return send();
      const Code = cancelled === 1 ? "TransactionConflict" : "ThrottlingError";
      const $metadata = { httpStatusCode: 400, attempts: 1 };
      const CancellationReasons = [{ Code: "None" }, { Code }];
      throw new TransactionCanceledException({ message: "cancelled", $metadata, CancellationReasons });
    });
    await keep(acme, 30);
    await run();
    // The item with some events, and the others; each was cancelled once.
    expect(cancelled).toBe(4);
    expect((await tracesOf(runtime, id)).filter((key) => key.startsWith("ITEM#"))).toEqual([]);
  });

  it("keep all events if they are sent again while their events are erased", async () => {
    const { id } = acme.organization;
    const send = async (): Promise<void> => {
      for (const each of chunksOf(events(150), 50)) await acme.apply({ external_id: "a", events: each });
    };
    await send();
    clock.advance(40 * DAY_MS);
    let isBack = false;
    const removeFaults = injectFaults(runtime.dynamodb, async (command, input): Promise<Fault> => {
      if (isBack || deletes("#ITEM", command, input) || !deletes("EVENT#", command, input)) return "none";
      isBack = true;
      await send();
      return "none";
    });
    await keep(acme, 30);
    await run();
    removeFaults();
    const left = await tracesOf(runtime, id);
    expect([isBack, left.filter((key) => / EVENT#/.test(key)).length]).toEqual([true, 150]);
  });

  it.each(["lost response", "throttled"] as const)(
    "are erased whole although a request is met by: %s",
    async (fault) => {
      for (const each of chunksOf(events(150), 50)) await acme.apply({ external_id: "many", events: each });
      clock.advance(40 * DAY_MS);
      await keep(acme, 30);
      vi.spyOn(runtime.log, "error").mockImplementation(() => undefined);
      const removeFaults = injectFaults(runtime.dynamodb, (command, input) => {
        const isLater = "TransactItems" in input && !deletes("#ITEM", command, input);
        return (fault === "throttled" ? isLater : deletes("#ITEM", command, input)) ? fault : "none";
      });
      await createEraseExpired(runtime, async (milliseconds) => {
        removeFaults();
        clock.advance(milliseconds);
      })(clock() + 15 * MINUTE_MS);
      removeFaults();
      expect((await tracesOf(runtime, acme.organization.id)).filter((key) => key.startsWith("ITEM#"))).toEqual([]);
    },
  );

  it("are erased with events that came late, from a call that had read the item, even damaged ones", async () => {
    const { id } = acme.organization;
    await acme.apply({ external_id: "a" });
    clock.advance(40 * DAY_MS);
    await keep(acme, 30);
    const [late, damaged] = ["late", "damaged"].map((name) => eventKeyOf(id, workItemId(id, "a"), name));
    const put = (Item: object) =>
      runtime.dynamodb.send(new PutCommand({ TableName: runtime.environment.WORK_ITEMS_TABLE, Item }));
    await createEraseExpired(runtime, async (milliseconds) => {
      await put({ ...late, external_id: "late", version: 1, writes: "1:x" });
      await put({ ...damaged, external_id: "damaged" });
      clock.advance(milliseconds);
    })(clock() + 15 * MINUTE_MS);
    expect(JSON.stringify(await tracesOf(runtime, id))).not.toContain("EVENT#");
  });

  it("of one organization that can't be read, and damaged ones, don't hold up others", async () => {
    const logged = vi.spyOn(runtime.log, "error").mockImplementation(() => undefined);
    const [damaged, unreadable] = [await createFeedCustomer(runtime), await createFeedCustomer(runtime)];
    for (const each of [damaged, unreadable, acme]) await each.apply({ external_id: "a" }, { external_id: "b" });
    clock.advance(40 * DAY_MS);
    for (const each of [damaged, unreadable, acme]) await keep(each, 30);
    await overwrite(runtime, "ACCESS_TABLE", organizationRecordKey(damaged.organization.id), "rate");
    const item = itemKeyOf(acme.organization.id, "a");
    await overwrite(runtime, "WORK_ITEMS_TABLE", item, "created_at", 7);
    const removeFaults = injectFaults(runtime.dynamodb, (_, input) =>
      JSON.stringify(input).includes(`#${unreadable.organization.id}#`) ? "throttled" : "none",
    );
    expect(await run()).toBe(3);
    removeFaults();
    expect(await itemsOf(acme)).toEqual([`${item.pk} #ITEM`]);
    expect(await listed(unreadable)).toEqual(["a", "b"]);
    const messages = logged.mock.calls.flatMap(([message]) => (typeof message === "string" ? message : []));
    expect(messages.toSorted()).toEqual([
      "a work item can't be erased",
      "the retention of an organization waits for the next run",
      "the retention of an organization waits for the next run",
    ]);
    expect(JSON.stringify(logged.mock.calls)).not.toMatch(/"external_id"/);
  });

  it("are left to the next run when the time is over, which the log says, and organizations take turns", async () => {
    const other = await createFeedCustomer(runtime);
    for (const each of [acme, other]) {
      for (let batch = 0; batch < 3; batch++)
        await each.apply(...Array.from({ length: 100 }, (_, index) => ({ external_id: `${batch} ${index}` })));
    }
    clock.advance(40 * DAY_MS);
    for (const each of [acme, other]) await keep(each, 30);
    let pages = 0;
    const removeFaults = injectFaults(runtime.dynamodb, (command, input) => {
      const isPage = command === "QueryCommand" && "IndexName" in input && input["IndexName"] === "listing";
      if (isPage && ++pages > 3) clock.advance(20 * MINUTE_MS);
      return "none";
    });
    const created = isoTime(clock() - 40 * DAY_MS).slice(0, 10);
    const logged = vi.spyOn(runtime.log, "info");
    expect(await run()).toBe(2);
    removeFaults();
    const expired = logged.mock.calls.filter(([message]) => message === "work items have expired");
    expect(expired.map(([, fields]) => fields)).toEqual(
      expect.arrayContaining([
        {
          organization: acme.organization.id,
          erased: expect.any(Number),
          oldest_left: expect.stringContaining(created),
        },
      ]),
    );
    logged.mockClear();
    const left = async (each: Customer): Promise<number> => (await itemsOf(each)).length;
    expect(await left(acme)).toBeLessThan(300);
    expect(await left(other)).toBeLessThan(300);
    expect((await left(acme)) + (await left(other))).toBeGreaterThan(100);
    expect(await run()).toBe(0);
    expect([await left(acme), await left(other)]).toEqual([0, 0]);
    expect(JSON.stringify(logged.mock.calls)).not.toContain('oldest_left":"');
  });

  it("of any size take no other organization's time, and are continued in the next run", async () => {
    const others = await Promise.all(Array.from({ length: 4 }, () => createFeedCustomer(runtime)));
    for (const each of chunksOf(events(500), 50)) await acme.apply({ external_id: "large", events: each });
    for (const { apply } of [acme, ...others]) await apply({ external_id: "a" }, { external_id: "b" });
    clock.advance(40 * DAY_MS);
    for (const each of [acme, ...others]) await keep(each, 30);
    const removeFaults = injectFaults(runtime.dynamodb, (command, input) => {
      if (command === "TransactWriteItemsCommand" && JSON.stringify(input).includes("EVENT#"))
        clock.advance(5 * MINUTE_MS);
      return "none";
    });
    await run();
    removeFaults();
    for (const each of [acme, ...others]) expect(await itemsOf(each)).toEqual([]);
    const left = await tracesOf(runtime, acme.organization.id);
    expect(left.filter((key) => key.startsWith("ITEM#")).length).toBeGreaterThan(50);
    await run();
    expect((await tracesOf(runtime, acme.organization.id)).filter((key) => key.startsWith("ITEM#"))).toEqual([]);
  });
});
