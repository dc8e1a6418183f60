import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { create as createRecorder } from "../../../functions/record-conversation-upload.ts";
import type { createListWorkItems } from "../../../lib/work-items/work-item-list.ts";
import { chunksOf } from "../../../lib/retry.ts";
import { workItemFilterNames } from "../../../lib/work-items/work-item-filters.ts";
import type { ListWorkItemsResponseBody } from "../../../apps/client/openapi-types.ts";
import type { ApiResponse } from "../../support/organization.ts";
import { createTestService } from "../../support/service.ts";

type Service = Awaited<ReturnType<typeof createTestService>>;
type Item = ListWorkItemsResponseBody["data"][number];
type Query = Record<string, string | number | readonly string[]>;

const time = (minutes: number): string => new Date(1_767_225_600_000 + minutes * 60_000).toISOString();

/** A page of any list. */
type Page<T> = ApiResponse<Pick<ListWorkItemsResponseBody, "meta"> & { readonly data: readonly T[] }>;

const readAllPages = async <T>(read: (query: Query) => Promise<Page<T>>, query: Query): Promise<T[]> => {
  const items: T[] = [];
  let next: string | undefined;
  let pages = 0;
  do {
    const { status, text, body } = await read({ ...query, ...(next !== undefined && { cursor: next }) });
    expect(status, text).toBe(200);
    items.push(...body.data);
    const { page } = body.meta;
    expect(page.limit).toBe(query["limit"] ?? 50);
    next = page.next;
    pages++;
  } while (next !== undefined && pages < 1000);
  return items;
};
const listAll = (service: Service, ofItems: Query): Promise<Item[]> =>
  readAllPages((query) => service.call("listWorkItems", { query }), ofItems);
const listAllUploads = (service: Service, ofUploads: Query) =>
  readAllPages((query) => service.call("listConversationUploads", { query }), ofUploads);

describe("listing work items", () => {
  let service: Service;
  let expected: string[];
  beforeAll(async () => {
    let now = 1_800_000_000_000;
    service = await createTestService({ clock: () => now++ });
    const items = Array.from({ length: 230 }, (_, index) => ({
      external_id: `I${index}`,
      type: index % 3 === 0 ? "call" : "chat",
      agent_external_id: index % 2 === 0 ? "even" : "odd",
      agent_email: `${index % 5}@example.com`,
      completed_at: index % 4 === 0 ? null : time((index * 7) % 50),
    }));
    for (let start = 0; start < items.length; start += 100) {
      const { status } = await service.call("applyWorkItemBatch", {
        body: { work_items: items.slice(start, start + 100) },
      });
      expect(status).toBe(200);
    }
    const all = await listAll(service, { limit: 100 });
    const sortKey = (item: Item): string =>
      item.completed_at === null ? `1${item.created_at}${item.id}` : `2${item.completed_at}${item.id}`;
    expected = all.toSorted((a, b) => (sortKey(a) > sortKey(b) ? -1 : 1)).map((item) => item.external_id);
    expect(new Set(expected).size).toBe(230);
  });

  it("lists every item once and in order with any page size", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 100 }), async (limit) => {
        expect((await listAll(service, { limit })).map((item) => item.external_id)).toEqual(expected);
      }),
      { numRuns: 3, examples: [[1], [100]] },
    );
  });

  it.each([
    [{ type: "call" }, 77],
    [{ agent_external_id: "odd" }, 115],
    [{ agent_email: "3@example.com" }, 46],
    [{ type: "call", agent_external_id: "even", agent_email: "0@example.com" }, 8],
    [{ status: "completed" }, 172],
    [{ status: "cancelled" }, 0],
    [{ completed_from: time(20), completed_to: time(10) }, 0],
  ])("returns the items that match all filters: %j", async (filters, count) => {
    expect(await listAll(service, { ...filters, limit: 7 })).toHaveLength(count);
  });

  it("bounds completion from completed_from on and before completed_to", async () => {
    const items = await listAll(service, { completed_from: time(10), completed_to: time(20), limit: 9 });
    expect(items.length).toBeGreaterThan(10);
    expect(items.every(({ completed_at: at }) => at !== null && at >= time(10) && at < time(20))).toBe(true);
    const rest = await listAll(service, { completed_to: time(10) });
    expect(rest.every(({ completed_at: at }) => at !== null && at < time(10))).toBe(true);
  });

  it("returns the items with one of several types and statuses, whatever their order", async () => {
    const query = {
      type: ["chat", "call"],
      agent_external_id: "even",
      status: ["completed", "cancelled", "completed"],
    };
    const items = await listAll(service, { ...query, limit: 7 });
    const single = await listAll(service, { agent_external_id: "even", status: "completed", limit: 100 });
    expect(items).toEqual(single);
    expect(new Set(items.map(({ type }) => type))).toEqual(new Set(["call", "chat"]));
    expect(await listAll(service, { status: ["in_progress", "cancelled"] })).toEqual([]);

    const first = await service.call("listWorkItems", { query: { ...query, limit: 3 } });
    const cursor = first.body.meta.page.next ?? "";
    const turned = { ...query, type: ["call", "chat"], status: ["cancelled", "completed"], limit: 3, cursor };
    expect((await service.call("listWorkItems", { query: turned })).body.data).toEqual(items.slice(3, 6));
    const other = await service.call("listWorkItems", { query: { ...turned, type: "call" } });
    expect(other).toMatchObject({ status: 422, body: { error: expect.stringMatching(/^cursor: /) } });
  });

  it("rejects a value that no item can have, too many values, and other filters given twice", async () => {
    const errorOf = async (query: Query) => (await service.call("listWorkItems", { query })).body.error;
    expect(await errorOf({ status: ["pending", "lost"] })).toBe(
      "status: must be one of pending, in_progress, completed, cancelled",
    );
    expect(await errorOf({ type: Array.from({ length: 101 }, String) })).toBe("type: must have at most 100 values");
    expect(await listAll(service, { type: Array.from({ length: 100 }, (_, index) => `type ${index}`) })).toEqual([]);
    expect(await errorOf({ agent_external_id: ["even", "odd"] })).toBe("agent_external_id: must be given once");
  });

  it("returns one item by external_id if it matches the other filters too", async () => {
    expect(await listAll(service, { external_id: "I3" })).toHaveLength(1);
    expect(await listAll(service, { external_id: "I3", type: "chat" })).toHaveLength(0);
  });

  it("shows the current content of an item and leaves out deleted ones and other organizations'", async () => {
    const stranger = await createTestService();
    expect(await listAll(stranger, {})).toEqual([]);
    const { body } = await stranger.call("createWorkItem", { body: { work_item: { external_id: "A" } } });
    const id = body.data.id;
    await stranger.call("updateWorkItem", { params: { id }, body: { work_item: { custom_attributes: { a: 1 } } } });
    expect(await listAll(stranger, {})).toMatchObject([{ id, custom_attributes: { a: 1 } }]);
    await stranger.call("deleteWorkItem", { params: { id } });
    expect(await listAll(stranger, {})).toEqual([]);
  });

  it("ends a page early if its items do not fit into a response", async () => {
    const large = await createTestService();
    const quotes = JSON.stringify(Object.fromEntries(Array.from({ length: 8000 }, (_, key) => [`k${key}`, `v${key}`])));
    const items = Array.from({ length: 30 }, (_, index) => ({
      external_id: `L${index}`,
      custom_attributes: index % 2 === 0 ? { a: "x".repeat(250_000) } : { a: quotes },
    }));
    for (let start = 0; start < 30; start += 15) {
      await large.call("applyWorkItemBatch", { body: { work_items: items.slice(start, start + 15) } });
    }
    const first = await large.call("listWorkItems", { query: { limit: 100 } });
    // As Lambda counts it: the body is a string in JSON.
    expect(Buffer.byteLength(JSON.stringify(first.text))).toBeLessThan(6_000_000);
    expect(Buffer.byteLength(JSON.stringify(first.text))).toBeGreaterThan(5_000_000);
    expect(new Set((await listAll(large, { limit: 100 })).map(({ id }) => id)).size).toBe(30);
  });
});

describe("a filter that the index can't apply", () => {
  /** Items of one agent, some of them with another address, which the index of agents doesn't hold. */
  const serviceWith = async (count: number, rare: readonly number[]) => {
    let now = 1_800_000_000_000;
    const service = await createTestService({ clock: () => now++ });
    const items = Array.from({ length: count }, (_, index) => ({
      external_id: `I${index}`,
      agent_external_id: "one",
      agent_email: rare.includes(index) ? "rare@example.com" : "other@example.com",
    }));
    for (const work_items of chunksOf(items, 100)) await service.call("applyWorkItemBatch", { body: { work_items } });
    return service;
  };
  /** The pages of the list, each with the items that it shows and the number of items that it read. */
  const pagesOf = async (service: Service, limit: number) => {
    let read = 0;
    service.runtime.dynamodb.middlewareStack.add(
      (next, { commandName }) =>
        (request) => {
          const { RequestItems: tables = {} } = request.input as { RequestItems?: Record<string, { Keys: unknown[] }> };
          if (commandName === "BatchGetItemCommand") read += Object.values(tables)[0]!.Keys.length;
          return next(request);
        },
      { step: "initialize", name: "count", override: true },
    );
    const pages: { readonly shown: string[]; readonly read: number }[] = [];
    await readAllPages(
      async (query) => {
        read = 0;
        const page = await service.call("listWorkItems", { query });
        pages.push({ shown: page.body.data.map((item) => item.external_id), read });
        return page;
      },
      { agent_external_id: "one", agent_email: "rare@example.com", limit },
    );
    return pages;
  };

  it("gives pages with items, not one for every few that it reads, and reads at most 1,000 for each", async () => {
    const service = await serviceWith(2000, [1900, 1420, 1419, 100]);
    for (const limit of [1, 50]) {
      const pages = await pagesOf(service, limit);
      expect(pages.flatMap(({ shown }) => shown)).toEqual(["I1900", "I1420", "I1419", "I100"]);
      // Between I1419 and I100 are more than a page may read, and after I100 are some.
      expect(pages.map(({ shown }) => shown.length)).toEqual(limit === 1 ? [1, 1, 1, 0, 1, 0] : [1, 2, 0, 1, 0]);
      expect(Math.max(...pages.map(({ read }) => read))).toBe(1000);
    }
  });

  it("shows every item once with any limit, even if a page has read more items than it may show", async () => {
    const rare = Array.from({ length: 150 }, (_, index) => index);
    const service = await serviceWith(300, rare);
    for (const limit of [7, 60]) {
      const pages = await pagesOf(service, limit);
      expect(pages.flatMap(({ shown }) => shown)).toEqual(rare.toReversed().map((index) => `I${index}`));
      expect(Math.max(...pages.map(({ shown }) => shown.length))).toBeLessThanOrEqual(limit);
    }
  });
});

describe("conversation uploads", () => {
  it("are listed newest first and read as they were recorded", async () => {
    let now = 1_800_000_000_000;
    const service = await createTestService({ clock: () => now++ });
    const record = createRecorder(service.runtime);
    const payload = (index: number, status = "pending") => ({
      organization: service.organization.id,
      external_id: `C${index}`,
      source: "zoom",
      status,
    });
    for (let index = 0; index < 12; index++) await record(payload(index));
    const { id } = await record(payload(3, "completed"));
    const listed = await listAllUploads(service, { limit: 5 });
    expect(listed.map((item) => item.external_id)).toEqual(Array.from({ length: 12 }, (_, index) => `C${11 - index}`));
    expect(listed[8]).toEqual({
      id,
      status: "completed",
      source: "zoom",
      external_id: "C3",
      created_at: listed[8]!.created_at,
      updated_at: expect.stringMatching(/Z$/) as string,
    });
    const { body } = await service.call("getConversationUpload", { params: { id } });
    expect(Object.keys(body.data).toSorted()).toEqual(["created_at", "id", "status", "updated_at"]);
    expect(await listAllUploads(service, { external_id: "C3" })).toHaveLength(1);
    expect((await service.call("getConversationUpload", { params: { id: "nope" } })).status).toBe(404);
    await expect(record({ ...payload(1), organization: "nobody" })).rejects.toThrow("not found");
    await expect(record({ ...payload(1), status: "odd" })).rejects.toThrow("status");
  });
});

describe("an item that moves while the shards are read", () => {
  it("is shown once although the index gives it with both sort keys", async () => {
    const service = await createTestService();
    const work_items = Array.from({ length: 20 }, (_, index) => ({ external_id: `item-${index}` }));
    await service.call("applyWorkItemBatch", { body: { work_items } });
    let moved: Record<string, { S: string }> | undefined;
    service.runtime.dynamodb.middlewareStack.add(
      (next, context) => async (request) => {
        const response = await next(request);
        const { Items = [] } = response.output as { Items?: Record<string, { S: string }>[] };
        if (context.commandName !== "QueryCommand") return response;
        if (moved === undefined) moved = Items[0];
        // Its entry of a moment ago, in another shard.
        else Items.unshift({ ...moved, listing_sk: { S: "2#2035-01-01T00:00:00.000Z#moved" } });
        return response;
      },
      { step: "initialize", priority: "high", name: "move" },
    );
    const { status, body } = await service.call("listWorkItems", { query: { limit: 100 } });
    expect(status).toBe(200);
    const ids = body.data.map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([20, 20]);
  });
});

describe("a filter", () => {
  const fields = { agent_email: "ann@example.com", agent_external_id: "agent-1", type: "call", status: "cancelled" };
  const one = { external_id: "one", ...fields, completed_at: time(20) };
  const others = [10, 30].map((minutes) => ({ external_id: `other-${minutes}`, completed_at: time(minutes) }));
  /** For each filter a value that only `one` matches among the items. */
  const values = {
    ...fields,
    external_id: "one",
    completed_from: time(20),
    completed_to: time(21),
  } as const satisfies Record<(typeof workItemFilterNames)[number], string>;

  it.each(workItemFilterNames)("by %s is applied to the items if the index does not apply it", async (name) => {
    const service = await createTestService();
    const hidden = name === "completed_from" ? others.slice(0, 1) : others.slice(1);
    await service.call("applyWorkItemBatch", { body: { work_items: [one, ...hidden] } });
    const query = { [name]: values[name] };
    const projected = await service.call("listWorkItems", { query });
    // Removes filter and range from the query, as if the index did not have the attribute.
    service.runtime.dynamodb.middlewareStack.add(
      (next, context) => (request) => {
        if (context.commandName !== "QueryCommand") return next(request);
        const { FilterExpression: _, ...input } = request.input as Record<string, unknown>;
        const unfiltered = {
          ...(input["ExpressionAttributeValues"] as object),
          ":low": { S: "1#" },
          ":high": { S: "3#" },
        };
        const placeholders = Object.entries(unfiltered).filter(([key]) => !key.startsWith(":filter"));
        const names = Object.entries(input["ExpressionAttributeNames"] ?? {}).filter(([key]) =>
          String(input["ProjectionExpression"]).includes(key),
        );
        return next({
          ...request,
          input: {
            ...input,
            ExpressionAttributeValues: Object.fromEntries(placeholders),
            ExpressionAttributeNames: names.length > 0 ? Object.fromEntries(names) : undefined,
          },
        });
      },
      { step: "initialize", name: "withoutFilter" },
    );
    const unprojected = await service.call("listWorkItems", { query });
    expect(unprojected.body.data).toMatchObject([{ external_id: "one" }]);
    expect(unprojected.text).toBe(projected.text);
  });

  it("does not compile if the list does not apply it", () => {
    type List = ReturnType<typeof createListWorkItems>;
    const call = (list: List, ...[organization, , page]: Parameters<List>) => [
      list(organization, { type: ["call"] }, page),
      // @ts-expect-error This is the test: the check of types must refuse a parameter that the list doesn't apply.
      list(organization, { type: ["call"], colour: "red" }, page),
    ];
    expect(call).toBeTypeOf("function");
  });

  it("by an email address compares without case, and the address stays as it was given", async () => {
    const service = await createTestService();
    const work_items = [
      "Ann@Example.com",
      "ann@example.com",
      "ANN@EXAMPLE.COM",
      "bob@example.com",
      "ann@example.org",
    ].map((agent_email) => ({ external_id: agent_email, agent_email }));
    await service.call("applyWorkItemBatch", { body: { work_items } });
    const expected = work_items.slice(0, 3).map(({ external_id: id }) => id);
    const addressesOf = (items: readonly Item[]) => items.map((item) => String(item.agent.email)).toSorted();
    for (const agent_email of ["ann@example.com", "aNN@eXAMPLE.COM"]) {
      const listed = await listAll(service, { agent_email, limit: 2 });
      expect(addressesOf(listed)).toEqual(expected.toSorted());
    }
    // A cursor continues with another spelling too.
    const { body } = await service.call("listWorkItems", { query: { agent_email: "ann@example.com", limit: 1 } });
    const cursor = body.meta.page.next!;
    const rest = await service.call("listWorkItems", { query: { agent_email: "Ann@example.com", cursor } });
    expect(rest.body.data).toHaveLength(2);
  });

  it("in which a plus sign came as a space says how to write it", async () => {
    const service = await createTestService();
    for (const [name, value] of [
      ["completed_from", "2026-03-01T09:00:00 01:00"],
      ["agent_email", "ann sales@example.com"],
    ] as const) {
      const { status, body } = await service.call("listWorkItems", { query: { [name]: value } });
      expect({ status, error: body.error }).toEqual({
        status: 422,
        error: expect.stringMatching(new RegExp(`^${name}: must be .*; write \\+ as %2B in a query$`)),
      });
    }
    const { body } = await service.call("listWorkItems", { query: { completed_from: "soon" } });
    expect(body.error).not.toContain("%2B");
  });
});
