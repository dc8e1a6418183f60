import { beforeEach, describe, expect, test } from "vitest";
import { create as createRecordQaScore } from "../../../functions/record-qa-score.ts";
import { createAppend } from "../../../lib/changes/append-to-log.ts";
import { createChangeLog } from "../../../lib/changes/segment-store.ts";
import { workItemId } from "../../../lib/identity.ts";
import { eraseItem } from "../../../apps/operator/data/erase-item.ts";
import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import { segmentKey } from "../../../lib/changes/segment.ts";
import { createTestClock, type TestClock } from "../../support/clock.ts";
import { operatorOf } from "../../support/customer-data.ts";
import { createFeedCustomer, feedPage, readFeed } from "../../support/feed.ts";
import { createTestRuntime, type TestRuntime } from "../../support/runtime.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let clock: TestClock;
let runtime: TestRuntime;
let customer: Awaited<ReturnType<typeof createFeedCustomer>>;
beforeEach(async () => {
  clock = createTestClock();
  runtime = await createTestRuntime({ clock });
  customer = await createFeedCustomer(runtime);
});

const items = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, index) => ({ external_id: `item-${index}`, ...more }));
const idOf = (externalId: string): string => workItemId(customer.organization.id, externalId);
const externalIds = (records: readonly object[]) =>
  records.map((record) => (record as { external_id?: string }).external_id);

describe("the change feed", () => {
  test("begins with the whole list, then follows what changed", async () => {
    await customer.apply(...items(5));
    await customer.deliver();
    const { records, cursor } = await readFeed(customer, { limit: 2 });
    expect(new Set(externalIds(records.slice(0, 5)))).toEqual(new Set(externalIds(items(5))));
    expect(records.slice(0, 4).map(({ sequence }) => sequence)).toEqual([0, 0, 0, 0]);
    await customer.apply({ external_id: "item-1", type: "call" }, { external_id: "new" });
    await customer.deliver();
    const after = await feedPage(customer, { after: cursor });
    expect(externalIds(after.data)).toEqual(["item-1", "new"]);
    expect(after.data[0]).toMatchObject({ type: "call", deleted_at: null, sequence: Number(cursor) + 1 });
    expect(after.data[0]).not.toHaveProperty("events");
    expect(after.meta.page).toEqual({ next: String(Number(cursor) + 2), limit: 100, more: false });
    expect(await feedPage(customer, { after: after.meta.page.next })).toMatchObject({ data: [] });
  });

  test("shows deletions, restores, changed events, scores and erased items", async () => {
    await customer.apply(...items(4));
    await customer.deliver();
    const { cursor } = await readFeed(customer);
    await customer.send("deleteWorkItem", { params: { id: idOf("item-0") } });
    await customer.send("upsertWorkItemEvent", {
      params: { id: idOf("item-1") },
      body: { event: { external_id: "e", content: "said" } },
    });
    const score = { organization: customer.organization.id, external_id: "item-2", qa_score: 0.5 };
    await createRecordQaScore(runtime)(score);
    await customer.deliver();
    const { data, meta } = await feedPage(customer, { after: cursor, include: "events" });
    expect(data).toMatchObject([
      { external_id: "item-0", deleted_at: expect.any(String), events: [] },
      { external_id: "item-1", deleted_at: null, events: [{ external_id: "e", content: "said" }] },
      { external_id: "item-2", qa_score: 0.5 },
    ]);
    await customer.apply({ external_id: "item-0" });
    await eraseItem(operatorOf(runtime), customer.organization.id, "item-3", { sleep: clockSleep });
    await customer.deliver();
    const next = await feedPage(customer, { after: meta.page.next });
    expect(next.data).toEqual([
      expect.objectContaining({ external_id: "item-0", deleted_at: null }),
      { id: idOf("item-3"), sequence: expect.any(Number), deleted_at: expect.any(String), erased: true },
    ]);
  });

  test("shows an item once a page, by its last change", async () => {
    const { cursor } = await readFeed(customer);
    for (const type of ["a", "b"]) {
      await customer.apply(...items(2, { type }));
      await customer.deliver();
    }
    const { data } = await feedPage(customer, { after: cursor });
    expect(data.map(({ sequence }) => sequence - Number(cursor))).toEqual([3, 4]);
    const one = await feedPage(customer, { after: cursor, limit: 1 });
    expect(one.data).toMatchObject([{ sequence: Number(cursor) + 1, type: "b" }]);
    expect(one.meta.page.more).toBe(true);
  });

  // One Query reads at least eight entries: those of a page, and the one before it. Those of 7 and 8 stop at the last one.
  test.each([
    [14, 3],
    [14, 7],
    [8, 8],
  ])("gives the cursor to the last records of a first load, of %s items in pages of %s", async (count, limit) => {
    const isInFirstShard = (id: string) => Number.parseInt(id.slice(0, 8), 16) % 2 === 0;
    const own = items(100).filter(({ external_id: id }) => isInFirstShard(idOf(id)));
    await customer.apply(...own.slice(0, count));
    await customer.deliver();
    const { records, cursor } = await readFeed(customer, { limit });
    const { changesFrom } = customer.organization;
    const sequences = records.slice(0, count).map(({ sequence }) => sequence);
    const onLastPage = count % limit || limit;
    expect(sequences).toEqual([...Array(count - onLastPage).fill(0), ...Array(onLastPage).fill(changesFrom - 1)]);
    expect(new Set(externalIds(records.slice(0, count))).size).toBe(count);
    expect(cursor).toBe(String(changesFrom + count - 1));
  });

  test.each([false, true])(
    "shows a record again, with the cursor, if the rest of the list has gone meanwhile (events: %s)",
    async (withEvents) => {
      const query = { limit: 2, ...(withEvents && { include: "events" }) };
      await customer.apply(...items(4));
      await customer.deliver();
      const first = await feedPage(customer, query);
      expect(first.data.map(({ sequence }) => sequence)).toEqual([0, 0]);
      const shown = first.data.map(({ id }) => id);
      for (const external of externalIds(items(4)).map((each) => idOf(each ?? ""))) {
        if (!shown.includes(external)) await customer.send("deleteWorkItem", { params: { id: external } });
      }
      const second = await feedPage(customer, { ...query, after: first.meta.page.next });
      const cursor = customer.organization.changesFrom - 1;
      expect(second.data).toEqual([expect.objectContaining({ id: shown[1], sequence: cursor, deleted_at: null })]);
      expect(second.meta.page).toMatchObject({ next: String(cursor), more: true });
    },
  );

  test("continues in the middle of a list and after any sequence", async () => {
    await customer.apply(...items(3));
    await customer.deliver();
    const first = await feedPage(customer, { limit: 2 });
    expect(first.meta.page).toMatchObject({ more: true });
    const { records } = await readFeed(customer, { after: first.meta.page.next });
    const again = await readFeed(customer, { after: String(records.at(-1)?.sequence) });
    expect(again.records).toEqual([]);
    expect(again.cursor).toBe(String(records.at(-1)?.sequence));
  });

  test("with after=now begins after everything", async () => {
    expect(await feedPage(customer, { after: "now" })).toEqual({
      data: [],
      meta: { page: { next: String(customer.organization.changesFrom - 1), limit: 100, more: false } },
    });
    await customer.apply(...items(3));
    await customer.deliver();
    const { meta } = await feedPage(customer, { after: "now" });
    expect(meta.page.next).toBe(String(customer.organization.changesFrom + 2));
  });

  test("takes the cursor of a first load from a quarter of an hour ago", async () => {
    await customer.apply({ external_id: "old" });
    await customer.deliver();
    clock.advance(16 * MINUTE_MS);
    await customer.apply({ external_id: "young" });
    await customer.deliver();
    const { data, meta } = await feedPage(customer);
    const old = String(customer.organization.changesFrom);
    expect(meta.page.next).toBe(old);
    expect(data.map(({ sequence }) => String(sequence))).toEqual([old, old]);
    expect(externalIds((await feedPage(customer, { after: old })).data)).toEqual(["young"]);
  });

  test.each(["yesterday", "-1", "1.5", "007", "1e3", "99999999999999999", "AAAA"])(
    "responds with 422 to after=%s",
    async (after) => {
      const { status, body } = await customer.status({ after });
      expect({ status, error: body.error }).toEqual({
        status: 422,
        error: "after: must be a meta.page.next of this feed, a sequence, 0 or now",
      });
    },
  );

  test("responds with 422 to a cursor beyond the newest, also of an empty feed", async () => {
    const { changesFrom } = customer.organization;
    const error = "after: is beyond the newest cursor of this feed";
    expect(await customer.status({ after: changesFrom })).toMatchObject({ status: 422, body: { error } });
    await customer.apply(...items(2));
    await customer.deliver();
    expect(await customer.status({ after: changesFrom + 1 })).toMatchObject({ status: 200 });
    expect(await customer.status({ after: changesFrom + 2 })).toMatchObject({ status: 422, body: { error } });
  });

  test("responds with 410 to a cursor that is older than what is kept, with a type for programs", async () => {
    const { cursor } = await readFeed(customer);
    for (const type of ["a", "b"]) {
      await customer.apply({ external_id: "item", type });
      await customer.deliver();
    }
    clock.advance(29 * DAY_MS);
    expect(await customer.status({ after: cursor })).toMatchObject({ status: 200 });
    clock.advance(2 * DAY_MS);
    const { send } = customer;
    const headers = { Accept: "application/problem+json" };
    const refused = await send("listWorkItemChanges", { query: { after: cursor }, headers });
    expect(refused).toMatchObject({
      status: 410,
      body: { type: "urn:work-items:problem:resync-required", status: 410, errors: [] },
    });
    // The newest segment never expires, and the cursor before it is the oldest one that is left.
    expect(externalIds((await feedPage(customer, { after: Number(cursor) + 1 })).data)).toEqual(["item"]);
    expect(await customer.status({ after: 5 })).toMatchObject({ status: 410 });
  });

  test("responds with 410 to every cursor before a gap, and with 503 to a first load soon after it", async () => {
    await customer.apply(...items(2));
    await customer.deliver();
    const { cursor } = await readFeed(customer);
    clock.advance(20 * MINUTE_MS);
    await createAppend(runtime)(customer.organization.id, "gap", Infinity);
    expect(await customer.status({ after: cursor })).toMatchObject({ status: 410 });
    expect(await customer.status({ after: Number(cursor) - 1 })).toMatchObject({ status: 410 });
    const early = await customer.status({});
    expect(early).toMatchObject({ status: 503, headers: { "retry-after": String(15 * 60) } });
    const { meta } = await feedPage(customer, { after: "now" });
    expect(Number(meta.page.next)).toBe(clock() * 1000 - 1);
    await customer.apply({ external_id: "after" });
    await customer.deliver();
    expect(externalIds((await feedPage(customer, { after: meta.page.next })).data)).toEqual(["after"]);
    clock.advance(15 * MINUTE_MS);
    expect((await readFeed(customer)).records).not.toEqual([]);
  });

  test("reads hundreds of changes at once from few segments", async () => {
    const { cursor } = await readFeed(customer);
    const ids = Array.from({ length: 1200 }, (_, index) => idOf(`missing-${index}`));
    await createAppend(runtime)(customer.organization.id, ids, Infinity);
    const { segments } = await createChangeLog(runtime).read(customer.organization.id, { limit: 10 });
    expect(segments.map((segment) => segment.ids.length)).toEqual([500, 500, 200]);
    const { records } = await readFeed(customer, { after: cursor });
    expect(records.map(({ id }) => id)).toEqual(ids);
  });

  test("ends a page early where items with their events do not fit", async () => {
    const events = Array.from({ length: 14 }, (_, index) => ({
      external_id: `e${index}`,
      content: "x".repeat(65_000),
    }));
    for (let index = 0; index < 9; index++) await customer.apply({ external_id: `item-${index}`, events });
    await customer.deliver();
    const { cursor } = await readFeed(customer, { after: String(customer.organization.changesFrom - 1) });
    const first = await feedPage(customer, { after: Number(cursor) - 9, include: "events" });
    expect(first.data.length).toBeLessThan(9);
    expect(first.meta.page.more).toBe(true);
    const { records } = await readFeed(customer, { include: "events" });
    expect(new Set(externalIds(records))).toEqual(new Set(externalIds(items(9))));
    expect(records.every((record) => "events" in record && record.events?.length === 14)).toBe(true);
  });

  test("reads a thousand changes in one page, each item once by its last change", async () => {
    const { cursor } = await readFeed(customer);
    const ids = Array.from({ length: 1200 }, (_, index) => idOf(`missing-${index}`));
    const again = ids.slice(0, 50);
    await createAppend(runtime)(
      customer.organization.id,
      [...ids.slice(0, 950), ...again, ...ids.slice(950)],
      Infinity,
    );
    const { data, meta } = await feedPage(customer, { after: cursor, limit: 1000 });
    expect(data.map(({ id }) => id)).toEqual([...ids.slice(50, 950), ...again, ...ids.slice(950, 1000)]);
    expect(data.map(({ sequence }) => sequence - Number(cursor))).toEqual(
      Array.from({ length: 1000 }, (_, index) => index + 51),
    );
    expect(meta.page).toEqual({ next: String(Number(cursor) + 1050), limit: 1000, more: true });
    const rest = await feedPage(customer, { after: meta.page.next, limit: 1000 });
    expect(rest.data.map(({ id }) => id)).toEqual(ids.slice(1000));
    expect(rest.meta.page.more).toBe(false);
  });

  test("ends a page of a thousand large items where they don't fit, in the list and in the log", async () => {
    const large = items(210, { custom_attributes: { text: "x".repeat(40_000) } });
    for (let from = 0; from < 210; from += 70) await customer.apply(...large.slice(from, from + 70));
    await customer.deliver();
    for (const start of [{}, { after: String(customer.organization.changesFrom - 1) }]) {
      const first = await feedPage(customer, { ...start, limit: 1000 });
      expect(first.meta.page.more).toBe(true);
      expect(first.data.length).toBe(100);
      const { records } = await readFeed(customer, { ...start, limit: 1000 });
      expect(new Set(externalIds(records))).toEqual(new Set(externalIds(items(210))));
    }
  });
});

describe("since", () => {
  const since = (time: number) => ({ since: new Date(time).toISOString() });
  const changesSince = async (time: number) => externalIds((await feedPage(customer, since(time))).data);
  /** Changes an item every hour. @returns the time of the first */
  const changeHourly = async (count: number): Promise<number> => {
    const first = clock();
    for (const [index, item] of items(count).entries()) {
      if (index > 0) clock.advance(60 * MINUTE_MS);
      await customer.apply(item);
      await customer.deliver();
    }
    return first;
  };

  test("begins with what changed at a time or later, less a minute", async () => {
    const first = await changeHourly(9);
    const names = externalIds(items(9));
    expect(await changesSince(first - 365 * DAY_MS)).toEqual(names);
    expect(await changesSince(first)).toEqual(names);
    for (const hours of [0, 1, 5, 8]) {
      const time = first + hours * 60 * MINUTE_MS;
      expect(await changesSince(time)).toEqual(names.slice(hours));
      expect(await changesSince(time + MINUTE_MS)).toEqual(names.slice(hours));
      expect(await changesSince(time + MINUTE_MS + 1)).toEqual(names.slice(hours + 1));
    }
  });

  test("later than everything, or in an empty feed, begins after the newest change", async () => {
    const empty = await feedPage(customer, since(clock()));
    expect(empty).toEqual(await feedPage(customer, { after: "now" }));
    await changeHourly(2);
    const page = await feedPage(customer, since(clock() + DAY_MS));
    expect(page).toEqual(await feedPage(customer, { after: "now" }));
    await customer.apply({ external_id: "later" });
    await customer.deliver();
    expect(externalIds((await feedPage(customer, { after: page.meta.page.next })).data)).toEqual(["later"]);
  });

  test("continues page by page after the cursors that it gives", async () => {
    const first = await changeHourly(7);
    const page = await feedPage(customer, { ...since(first + 2 * 60 * MINUTE_MS), limit: 2 });
    expect(externalIds(page.data)).toEqual(["item-2", "item-3"]);
    const { records } = await readFeed(customer, { after: page.meta.page.next, limit: 2 });
    expect(externalIds(records)).toEqual(["item-4", "item-5", "item-6"]);
  });

  test("finds a time in a log with a gap, and responds with 410 before the gap", async () => {
    const first = await changeHourly(3);
    clock.advance(60 * MINUTE_MS);
    const gap = clock();
    await createAppend(runtime)(customer.organization.id, "gap", Infinity);
    clock.advance(60 * MINUTE_MS);
    await customer.apply({ external_id: "after the gap" });
    await customer.deliver();
    for (const time of [first - DAY_MS, first, gap]) {
      expect(await customer.status(since(time))).toMatchObject({ status: 410 });
    }
    expect(await changesSince(gap + 30 * MINUTE_MS)).toEqual(["after the gap"]);
  });

  test("responds with 410 only if something after it is no longer kept", async () => {
    const first = await changeHourly(3);
    const last = clock();
    clock.advance(31 * DAY_MS);
    // The segments are expired, though not removed yet; the newest one never expires.
    for (const time of [first - DAY_MS, first, last - 60 * MINUTE_MS]) {
      expect(await customer.status(since(time))).toMatchObject({ status: 410 });
    }
    expect(await changesSince(last - 30 * MINUTE_MS)).toEqual(["item-2"]);
    expect(await changesSince(last + DAY_MS)).toEqual([]);

    const { id, changesFrom } = customer.organization;
    for (const number of [changesFrom, changesFrom + 1]) {
      const Key = segmentKey(id, number);
      await runtime.dynamodb.send(new DeleteCommand({ TableName: runtime.environment.CHANGES_TABLE, Key }));
    }
    // When the removed one was written is not known any more.
    expect(await customer.status(since(last))).toMatchObject({ status: 410 });
    expect(await customer.status(since(first - DAY_MS))).toMatchObject({ status: 410 });
    expect(await changesSince(last + DAY_MS)).toEqual([]);
  });

  test("is a time, and not sent with after", async () => {
    const both = await customer.status({ after: "now", ...since(clock()) });
    expect(both).toMatchObject({ status: 422, body: { error: "since: must not be sent with after" } });
    expect(await customer.status({ since: "monday" })).toMatchObject({
      status: 422,
      body: { error: expect.stringMatching(/^since: must be an RFC 3339 date-time/) },
    });
  });
});

const clockSleep = (milliseconds: number): Promise<void> => {
  clock.advance(milliseconds);
  return Promise.resolve();
};
