import { setTimeout as sleep } from "node:timers/promises";
import { create as createGetWorkItem } from "../../functions/get-work-item.ts";
import { create as createListWorkItems } from "../../functions/list-work-items.ts";
import { workItemId } from "../../lib/identity.ts";
import type { ApiRequest } from "../support/organization.ts";
import { compareCpu } from "./cpu.ts";
import { meterDynamoDb } from "./dynamodb-meter.ts";
import { createFloors } from "./floors.ts";
import { itemOf } from "./items.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { createBenchService, withEngines } from "./service.ts";

const { atMost, exactly, fact, within } = rowsOf("read");
const GETS = 300;
const CALLS_PER_SECOND = 100;
const SECONDS = 5;

const SMALL = 1000;
const MEDIUM = 100_000;
const LARGE = 1_000_000;
const PAGE = 100;
/** One page in forty needs a further query of a shard, since hashes put its items into shards. */
const PAGES = 10;
const LISTS = 50;
const GROWTH_MAX = 1.2;
/** Pages without an item that may follow each other. */
const EMPTY_PAGES_MAX = 3;
const AGENTS = 50;

/** A warm instance that gets the one item of an organization. */
const createGet = async (limits?: { readonly rate: number; readonly burst: number }) => {
  const { runtime, organization, prepare, fill } = await createBenchService(limits && { limits });
  await fill(1, (index) => itemOf("kept", index));
  const params = { id: workItemId(organization.id, itemOf("kept", 0).external_id) };
  const get = prepare(createGetWorkItem(runtime), { resource: "/v1/work_items/{id}", params });
  await get();
  return { runtime, get };
};

const measureGet = async (): Promise<BenchRow[]> => {
  const { runtime, get } = await createGet();
  const floors = createFloors(runtime);
  await floors.insert("kept")();
  const use = await meterDynamoDb(runtime)(get);
  const cpu = await compareCpu({ ours: get, floor: floors.get("kept") }, { calls: GETS });
  return [
    exactly("requests of a get", use.requests, "requests", 1),
    atMost("CPU of a get", cpu.ours, "ms", 1.5, cpu.floor, "the bare Query"),
  ];
};

/** Calls at a steady rate, whenever the calls before respond. */
const callFor = async (seconds: number, call: () => Promise<unknown>): Promise<void> => {
  const start = performance.now();
  const calls: Promise<unknown>[] = [];
  for (let count = 0; count < seconds * CALLS_PER_SECOND; count++) {
    await sleep(Math.max(0, start + (count * 1000) / CALLS_PER_SECOND - performance.now()));
    calls.push(call());
  }
  await Promise.all(calls);
};

/** What a call costs beside its own requests, in a warm instance of an organization that uses half of its limit. */
const measureEdge = async (): Promise<BenchRow[]> => {
  const { runtime, get } = await createGet({ rate: 2 * CALLS_PER_SECOND, burst: 4 * CALLS_PER_SECOND });
  await callFor(1, get);
  const meterAccess = meterDynamoDb(runtime, "ACCESS_TABLE");
  const meterLimits = meterDynamoDb(runtime, "LIMITS_TABLE");
  let limited = 0;
  const access = await meterAccess(async () => {
    limited = (await meterLimits(() => callFor(SECONDS, get))).requests;
  });
  const name = `requests of the limiter for a call, at ${CALLS_PER_SECOND} a second`;
  return [
    exactly("requests for key and organization, warm", access.requests, "requests", 0),
    within(name, limited / SECONDS / CALLS_PER_SECOND, "requests", 0.1),
  ];
};

type Query = NonNullable<ApiRequest["query"]>;
interface Page {
  readonly data: readonly unknown[];
  readonly meta: { readonly page: { readonly next?: string } };
}

const listed = (index: number) => ({
  ...itemOf("kept", index),
  agent_external_id: index === 0 ? "rare" : `agent-${index % AGENTS}`,
  type: index === 0 ? "rare" : "ticket",
});
const USUAL = { agent_external_id: "agent-1" };
const RARE = { agent_external_id: "rare" };
/** Holds as many items of one agent as a page, at each size. */
const RANGE = { completed_from: itemOf("kept", 0).completed_at, completed_to: itemOf("kept", SMALL).completed_at };

/** An organization with so many items, and the calls that list them. */
const createList = async (items: number) => {
  const { runtime, prepare, fill } = await createBenchService();
  await fill(items, listed);
  const handler = createListWorkItems(runtime);
  const meter = meterDynamoDb(runtime);
  const list = (query: Query = {}) =>
    prepare(handler, { resource: "/v1/work_items", query: { limit: PAGE, ...query } });
  async function* pagesOf(query: Query) {
    let cursor: string | undefined;
    do {
      const one = list({ ...query, ...(cursor !== undefined && { cursor }) });
      const { data, meta } = JSON.parse(await one()) as Page;
      yield { found: data.length, call: one };
      cursor = meta.page.next;
    } while (cursor !== undefined);
  }
  return {
    runtime,
    list,
    /** Requests and read units of a page, which must have so many items: the mean of the first pages. */
    use: async (query: Query, expected: number, pages: number) => {
      let [seen, requests, readUnits] = [0, 0, 0];
      for await (const { found, call } of pagesOf(query)) {
        if (found !== expected) throw new Error(`a page has ${found} items instead of ${expected}`);
        const used = await meter(call);
        requests += used.requests;
        readUnits += used.readUnits;
        if (++seen === pages) break;
      }
      return { requests: requests / seen, readUnits: readUnits / seen };
    },
    /** Walks to the end of a list in which one item matches. */
    walk: async (query: Query) => {
      let [calls, matches, emptyInARow, mostEmpty] = [0, 0, 0, 0];
      for await (const { found } of pagesOf(query)) {
        calls += 1;
        matches += found;
        emptyInARow = found === 0 ? emptyInARow + 1 : 0;
        mostEmpty = Math.max(mostEmpty, emptyInARow);
      }
      if (matches !== 1) throw new Error(`${matches} items match ${JSON.stringify(query)} instead of 1`);
      return { calls, mostEmpty };
    },
  };
};

const measureLists = async (): Promise<BenchRow[]> => {
  const small = await createList(SMALL);
  const plain = await small.use({}, PAGE, PAGES);
  const floor = await createFloors(small.runtime).list("kept");
  const cpu = await compareCpu({ ours: small.list(), floor }, { calls: LISTS });
  const rows = [
    fact("requests of a page of 100", plain.requests, "requests"),
    fact("read units of a page of 100", plain.readUnits, "units"),
    atMost("CPU of a page of 100", cpu.ours, "ms", 2, cpu.floor, "a bare Query of 100 full items"),
  ];
  const large = await createList(LARGE);
  const pages = [
    ["a page", {}, PAGE, PAGES],
    ["a page of an agent", USUAL, PAGE, PAGES],
    ["a page of an agent and a time", { ...USUAL, ...RANGE }, SMALL / AGENTS, 1],
    ["the page of an agent with one item", RARE, 1, 1],
  ] as const;
  for (const [what, query, expected, count] of pages) {
    const of = "a page of 1,000 items";
    const used = await large.use(query, expected, count);
    const grown = await compareCpu({ large: large.list(query), small: small.list() }, { calls: LISTS });
    rows.push(
      atMost(`requests of ${what} of 1,000,000`, used.requests, "requests", GROWTH_MAX, plain.requests, of),
      atMost(`read units of ${what} of 1,000,000`, used.readUnits, "units", GROWTH_MAX, plain.readUnits, of),
      atMost(`CPU of ${what} of 1,000,000`, grown.large, "ms", GROWTH_MAX, grown.small, of),
    );
  }
  rows.push(fact("pages of 1,000,000 until type=rare is found", (await large.walk({ type: "rare" })).calls, "calls"));
  const medium = await createList(MEDIUM);
  for (const filter of [{ type: "rare" }, { agent_email: "agent0@example.com", type: "rare" }]) {
    const what = `of 100,000 items filtered by ${Object.keys(filter).join(" and ")}`;
    const { mostEmpty } = await medium.walk(filter);
    rows.push(within(`empty pages in a row ${what}`, mostEmpty, "pages", EMPTY_PAGES_MAX));
  }
  return rows;
};

/** Requests, units and CPU of get and list, and requests of what is before every endpoint. */
export const measure = (): Promise<BenchRow[]> =>
  withEngines(async () => [...(await measureGet()), ...(await measureEdge()), ...(await measureLists())]);
