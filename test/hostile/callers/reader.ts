import { isoTime } from "../../../lib/clock.ts";
import { conversationUploadId, workItemEventId, workItemId } from "../../../lib/identity.ts";
import type { RouteName } from "../../support/handlers.ts";
import type { ApiRequest } from "../../support/organization.ts";
import { filters, INVALID } from "../oracle/inputs.ts";
import { matches } from "../oracle/item-history.ts";
import { type ModelItem, showEvent, showItem, Span } from "../oracle/reference-item.ts";
import { CLOCK_OFF_MAX_MS } from "../world/hostilities.ts";
import type { CallOptions, Customer, Response } from "../world/service.ts";
import { NO_RESPONSE } from "../world/world.ts";
import { type Scene, seriesOf, untilAnswered } from "./item-caller.ts";

const PAGES_MAX = 500;
const LISTS_COMPARED = 4;

interface Conversation {
  readonly status: string;
  readonly source: string;
  readonly created_at: Span;
  readonly updated_at: Span;
}

interface Page {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly meta: { readonly page: { readonly next?: string; readonly limit: number } };
}

const newestFirst = (a: string, b: string): number => (a < b ? 1 : a > b ? -1 : 0);

/** A caller that records conversations, reads lists, and makes calls that must be refused. */
export function createReader(scene: Scene, customer: Customer, stranger: Customer, seed: number) {
  const { world, service, oracle } = scene;
  const { id: organization } = customer.organization;
  const conversations = new Map<string, Conversation>();
  /** Conversations to which a call was frozen: what it writes when it continues may come after later calls. */
  const unsure = new Set<string>();
  const off = world.hostilities.chosen.has("clocks") ? CLOCK_OFF_MAX_MS : 0;
  const nextFilters = seriesOf(filters, seed);

  const call = (route: RouteName, request: ApiRequest): Promise<Response | undefined> =>
    untilAnswered(
      scene,
      customer,
      route,
      [],
      (options) => service.call(customer, route, request, options),
      () => true,
    );
  const expectStatus = async (status: number, route: RouteName, request: ApiRequest): Promise<Response | undefined> => {
    const response = await call(route, request);
    if (response !== undefined && response.status !== status) {
      oracle.report("wrong", { route, request, expected: status, status: response.status, text: response.text });
    }
    return response;
  };
  const expectData = (what: object, actual: unknown, expected: unknown): void => {
    if (!matches(expected, actual)) oracle.report("wrong", { ...what, actual, expected });
  };

  /** Walks all pages of a list. */
  const walk = async (
    route: RouteName,
    query: object,
    params: Readonly<Record<string, string>> = {},
    isLong = false,
  ) => {
    const found: Page["data"][number][] = [];
    const limit = world.pick(isLong ? [17, 100] : [1, 2, 7, 100]);
    for (let cursor: string | undefined, pages = 0; pages < PAGES_MAX; pages++) {
      const all = { ...query, limit, ...(cursor !== undefined && { cursor }) };
      const response = await expectStatus(200, route, { params, query: all });
      if (response?.status !== 200) return undefined;
      const { data, meta } = response.body as unknown as Page;
      if (meta.page.limit !== limit || data.length > limit) oracle.report("wrong", { route, limit, meta });
      found.push(...data);
      cursor = meta.page.next;
      if (cursor === undefined) return found;
    }
    oracle.report("lost", { "a list that does not end": route, query });
    return undefined;
  };

  const record = async (): Promise<void> => {
    const externalId = `conversation ${world.below(3)}`;
    const input = { external_id: externalId, status: world.pick(["pending", "completed"]), source: "phone" };
    const from = isoTime(world.clock() - off);
    const send = async (options: CallOptions): Promise<Response | typeof NO_RESPONSE> => {
      const onStop = (kind: "kill" | "freeze"): void => {
        if (kind === "freeze") unsure.add(externalId);
        options.onStop?.(kind);
      };
      const status = await service.recordConversation!(customer, input, { ...options, onStop });
      return status === NO_RESPONSE ? status : { status, headers: {}, text: "", body: {} };
    };
    await untilAnswered(scene, customer, "record a conversation", [], send, () => true);
    const before = conversations.get(externalId);
    if (before?.status === input.status) return;
    const time = new Span(from, isoTime(world.clock() + off));
    const { status, source } = input;
    conversations.set(externalId, { status, source, created_at: before?.created_at ?? time, updated_at: time });
  };
  const readConversations = async (): Promise<void> => {
    const found = await walk("listConversationUploads", {});
    const expected = [...conversations].map(([external_id, each]) => {
      const { source } = each;
      return {
        id: conversationUploadId(organization, external_id),
        external_id,
        ...(unsure.has(external_id) ? { source } : each),
      };
    });
    const comparable = found?.map((each) => {
      const { id, external_id, source } = each;
      return unsure.has(String(external_id)) ? { id, external_id, source } : each;
    });
    const sorted = (list: readonly object[] | undefined) =>
      list?.toSorted((a, b) => newestFirst((a as { id: string }).id, (b as { id: string }).id));
    expectData({ list: "conversations" }, sorted(comparable), sorted(expected));
    for (const [externalId, { source: _, ...shown }] of conversations) {
      const id = conversationUploadId(organization, externalId);
      const response = await expectStatus(200, "getConversationUpload", { params: { id } });
      if (!unsure.has(externalId)) expectData({ get: externalId }, response?.body.data, { id, ...shown });
    }
  };

  /** What belongs to another organization is as if it weren't there. */
  const trespass = async (): Promise<void> => {
    const { id: other } = stranger.organization;
    const items = [...oracle.itemsOf(other).keys()].map((name) => workItemId(other, name));
    const jobs = oracle.jobs.get(other) ?? [];
    const calls: readonly (readonly [RouteName, readonly string[], object?])[] = [
      ["getWorkItem", items],
      ["updateWorkItem", items, { work_item: { type: "taken" } }],
      ["deleteWorkItem", items],
      ["upsertWorkItemEvent", items, { event: { external_id: "e1", content: "taken" } }],
      ["listWorkItemEvents", items],
      ["getWorkItemUpload", jobs],
      ["cancelWorkItemUpload", jobs],
      ["undoWorkItemUpload", jobs],
      ["getWorkItemUploadResults", jobs],
    ];
    const possible = calls.filter(([, ids]) => ids.length > 0);
    if (possible.length === 0) return;
    const [route, ids, body] = world.pick(possible);
    await expectStatus(404, route, { params: { id: world.pick(ids) }, ...(body && { body }) });
  };
  /** One bad item refuses the whole call. */
  const sendInvalid = async (): Promise<void> => {
    const fields = world.pick(INVALID);
    const work_item = { external_id: "never", ...fields };
    const calls: readonly (readonly [RouteName, ApiRequest])[] = [
      ["applyWorkItemBatch", { body: { work_items: [{ external_id: "never" }, work_item] } }],
      ["createWorkItem", { body: { work_item } }],
      ["updateWorkItem", { params: { id: workItemId(organization, "a") }, body: { work_item: fields } }],
    ];
    await expectStatus(422, ...world.pick(calls));
  };
  const readHealth = async (): Promise<void> => void (await expectStatus(200, "getHealth", {}));

  /** The items of the model, once nothing is under way, and the ids of those that aren't known for sure. */
  const items = () => {
    const all = [...oracle.itemsOf(organization).values()];
    const [known, others] = [[] as ModelItem[], new Set<unknown>()];
    for (const { externalId, history } of all) {
      const [item] = history.states;
      if (history.states.length !== 1) others.add(workItemId(organization, externalId));
      else if (item !== undefined && !item.deleted) known.push(item);
    }
    return { known, others };
  };
  const placeOf = ({ external_id: externalId, completed_at: completed, created_at: created }: ModelItem): string =>
    [completed === null ? "1" : "2", completed ?? String(created), workItemId(organization, externalId)].join(" ");

  /** Compares lists with everything that is known, in their order. */
  const compareLists = async (): Promise<void> => {
    const { known, others } = items();
    for (let count = 0; count < LISTS_COMPARED; count++) {
      const query = count === 0 ? {} : nextFilters();
      const { completed_from: from, completed_to: to, ...equal } = query;
      const expected = known
        .filter((item) => Object.entries(equal).every(([name, value]) => item[name as keyof typeof equal] === value))
        .filter(({ completed_at: at }) => from === undefined || (at !== null && at >= from))
        .filter(({ completed_at: at }) => to === undefined || (at !== null && at < to))
        .toSorted((a, b) => newestFirst(placeOf(a), placeOf(b)))
        .map((item) => showItem(workItemId(organization, item.external_id), item));
      const listed = await walk("listWorkItems", query, {}, expected.length > 50);
      if (listed === undefined) continue;
      oracle.lists += 1;
      const found = listed.filter(({ id }) => !others.has(id));
      const missing = expected.filter(({ id }) => !found.some((each) => each["id"] === id));
      const more = found.filter((each) => !expected.some(({ id }) => each["id"] === id));
      if (missing.length > 0) oracle.report("lost", { list: query, missing: missing.slice(0, 3), of: missing.length });
      else if (more.length > 0) oracle.report("wrong", { list: query, more: more.slice(0, 3), of: more.length });
      else expectData({ list: query }, found, expected);
    }
    const withEvents = known.filter((item) => Object.keys(item.events).length > 0);
    for (const item of withEvents.slice(0, LISTS_COMPARED)) {
      const id = workItemId(organization, item.external_id);
      const expected = Object.values(item.events)
        .map((event) => showEvent(workItemEventId(id, event.external_id), event))
        .toSorted((a, b) => newestFirst(b.id, a.id));
      expectData({ events: item.external_id }, await walk("listWorkItemEvents", {}, { id }), expected);
    }
  };

  return {
    run: async (count: number): Promise<void> => {
      for (let left = count; left > 0; left--) {
        await world.sleep(world.below(3000));
        await world.pick([record, record, readConversations, trespass, trespass, sendInvalid, readHealth])();
      }
    },
    compareLists: async (): Promise<void> => {
      await compareLists();
      if (service.recordConversation !== undefined) await readConversations();
    },
  };
}
