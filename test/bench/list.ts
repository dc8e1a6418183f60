import { create as createListWorkItems } from "../../functions/list-work-items.ts";
import type { ApiRequest } from "../support/organization.ts";
import { compareCpu } from "./cpu.ts";
import { meterDynamoDb } from "./dynamodb-meter.ts";
import { withEngines } from "./engines.ts";
import { createFloors } from "./floors.ts";
import { createElectroDbPeer } from "./electrodb-peer.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { type BenchService, createBenchService } from "./service.ts";
import { itemOf } from "./uploads-data.ts";

const SMALL = 1000;
const MEDIUM = 100_000;
const LARGE = 1_000_000;
const PAGE = 100;
/** One page in forty needs a further query of a shard, since hashes put its items into shards. */
const PAGES = 10;
const CALLS = 50;
const GROWTH_MAX = 1.2;
/** Pages without an item that may follow each other. */
const EMPTY_PAGES_MAX = 3;

const AGENTS = 50;
const listed = (index: number) => ({
  ...itemOf("kept", index),
  agent_external_id: index === 0 ? "rare" : `agent-${index % AGENTS}`,
  type: index === 0 ? "rare" : "ticket",
});
/** Holds as many items of one agent as a page, at each size. */
const RANGE = {
  completed_from: itemOf("kept", 0).completed_at,
  completed_to: itemOf("kept", SMALL).completed_at,
};

type Query = NonNullable<ApiRequest["query"]>;
interface Page {
  readonly data: readonly unknown[];
  readonly meta: { readonly page: { readonly next?: string } };
}

/** An organization with so many items, and the calls that list them. */
const createList = async (items: number) => {
  const service: BenchService = await createBenchService();
  await service.fill(items, listed);
  const handler = createListWorkItems(service.runtime);
  const meter = meterDynamoDb(service.runtime);
  const list = (query: Query = {}) =>
    service.prepare(handler, { resource: "/v1/work_items", query: { limit: PAGE, ...query } });
  const page = async (query: Query = {}): Promise<Page> => JSON.parse(await list(query)()) as Page;
  /** Requests and read units of a page, which must have so many items: the mean of the first pages. */
  const use = async (query: Query, expected: number, pages = PAGES) => {
    let [requests, readUnits] = [0, 0];
    let cursor: string | undefined;
    for (let number = 0; number < pages; number++) {
      const one = { ...query, ...(cursor !== undefined && { cursor }) };
      const { data, meta } = await page(one);
      if (data.length !== expected) throw new Error(`a page has ${data.length} items instead of ${expected}`);
      const used = await meter(list(one));
      requests += used.requests / pages;
      readUnits += used.readUnits / pages;
      cursor = meta.page.next;
    }
    return { requests, readUnits };
  };
  return { list, page, use };
};

const measureLists = async (): Promise<BenchRow[]> => {
  const { atMost, fact } = rowsOf("list");
  const floors = await createFloors();
  const peer = await createElectroDbPeer();
  for (let index = 0; index < SMALL; index++) await peer.create("kept", index);
  const small = await createList(SMALL);
  const smallUse = await small.use({}, PAGE);
  const cpu = await compareCpu({ ours: small.list(), floor: floors.list("kept"), peer: peer.list }, { calls: CALLS });
  const large = await createList(LARGE);
  const largeUse = await large.use({}, PAGE);
  const grown = await compareCpu({ small: small.list(), large: large.list() }, { calls: CALLS });
  return [
    fact("requests of a page of 100", smallUse.requests, "requests"),
    fact("read units of a page of 100", smallUse.readUnits, "units"),
    atMost("CPU of a page of 100", cpu.ours, "ms", 2, cpu.floor, "a bare Query of 100 full items"),
    atMost("the same beside ElectroDB", cpu.ours, "ms", 1, cpu.peer, "ElectroDB"),
    atMost("requests at 1,000,000 items", largeUse.requests, "requests", GROWTH_MAX, smallUse.requests, "1,000 items"),
    atMost("read units at 1,000,000 items", largeUse.readUnits, "units", GROWTH_MAX, smallUse.readUnits, "1,000 items"),
    atMost("CPU at 1,000,000 items", grown.large, "ms", GROWTH_MAX, grown.small, "1,000 items"),
  ];
};

/** Calls with a filter that one item matches, until the end of the list. */
const walk = async (page: (query: Query) => Promise<Page>, filter: Query) => {
  let [calls, found, emptyInARow, mostEmpty] = [0, 0, 0, 0];
  let cursor: string | undefined;
  do {
    const { data, meta } = await page({ ...filter, ...(cursor !== undefined && { cursor }) });
    calls += 1;
    found += data.length;
    emptyInARow = data.length === 0 ? emptyInARow + 1 : 0;
    mostEmpty = Math.max(mostEmpty, emptyInARow);
    cursor = meta.page.next;
  } while (cursor !== undefined);
  if (found !== 1) throw new Error(`${found} items match ${JSON.stringify(filter)} instead of 1`);
  return { calls, mostEmpty };
};

const measureAgents = async (): Promise<BenchRow[]> => {
  const { atMost, fact, within } = rowsOf("agents");
  const small = await createList(SMALL);
  const plain = await small.use({}, PAGE);
  const rows: BenchRow[] = [];
  for (const [name, items] of [
    ["1,000", SMALL],
    ["1,000,000", LARGE],
  ] as const) {
    const { list, page, use } = items === SMALL ? small : await createList(items);
    const usual = { agent_external_id: "agent-1" };
    const rare = { agent_external_id: "rare" };
    const found = Math.min(PAGE, items / AGENTS);
    const uses = [
      [`a page of an agent at ${name} items`, await use(usual, found, found === PAGE ? PAGES : 1)],
      [`a page of an agent and a time at ${name} items`, await use({ ...usual, ...RANGE }, SMALL / AGENTS, 1)],
      [`the page of an agent with one item at ${name}`, await use(rare, 1, 1)],
    ] as const;
    for (const [what, { requests, readUnits }] of uses) {
      rows.push(atMost(`requests of ${what}`, requests, "requests", GROWTH_MAX, plain.requests, "the plain list"));
      rows.push(atMost(`read units of ${what}`, readUnits, "units", GROWTH_MAX, plain.readUnits, "the plain list"));
    }
    const cpu = await compareCpu({ usual: list(usual), rare: list(rare), plain: small.list() }, { calls: CALLS });
    rows.push(
      atMost(`CPU of a page of an agent at ${name} items`, cpu.usual, "ms", GROWTH_MAX, cpu.plain, "the plain list"),
      atMost(`CPU of a page with one item at ${name}`, cpu.rare, "ms", GROWTH_MAX, cpu.plain, "the plain list"),
    );
    if (items === LARGE)
      rows.push(
        fact("pages of 1,000,000 items until type=rare is found", (await walk(page, { type: "rare" })).calls, "calls"),
      );
  }
  const medium = await createList(MEDIUM);
  for (const filter of [{ type: "rare" }, { agent_email: "agent0@example.com", type: "rare" }]) {
    const { calls, mostEmpty } = await walk(medium.page, filter);
    const what = `of 100,000 items filtered by ${Object.keys(filter).join(" and ")}`;
    rows.push(
      fact(`pages ${what}`, calls, "calls"),
      within(`empty pages in a row ${what}`, mostEmpty, "pages", EMPTY_PAGES_MAX),
    );
  }
  return rows;
};

/** Requests, units and CPU of a page of the list, at 1,000 and at 1,000,000 items. */
export const list = { measure: (): Promise<BenchRow[]> => withEngines(measureLists) };
/** The same for the list's filters. */
export const agents = { measure: (): Promise<BenchRow[]> => withEngines(measureAgents) };
