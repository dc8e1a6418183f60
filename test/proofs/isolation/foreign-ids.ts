import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { allRoutes, routes } from "../../../functions/routes.ts";
import { workItemId } from "../../../lib/identity.ts";
import { parseUuid } from "../../../lib/schema.ts";
import type { RouteName } from "../../support/handlers.ts";
import { exampleBodyOf } from "../../support/openapi/example-body.ts";
import type { ApiRequest, ApiResponse } from "../../support/organization.ts";
import type { Tenant, Tenants } from "./tenants.ts";

/** What differed, and how many responses were compared. */
export interface Comparison {
  readonly compared: number;
  readonly differences: readonly object[];
}

/** Bodies that change more than the documented example. */
const bodies: Readonly<Partial<Record<RouteName, object>>> = {
  updateWorkItem: { work_item: { type: "changed" } },
  upsertWorkItemEvent: { event: { external_id: "shared 1", content: "changed" } },
};

/** A response without the request's id. What is left of the limit depends on when the caller called before. */
const comparable = ({ status, headers, text }: ApiResponse) => {
  const own = Object.entries(headers).map(([name, value]) => [name, name === "ratelimit" ? "" : value] as const);
  return { status, headers: { ...Object.fromEntries(own), "x-request-id": "" }, text };
};

const namesWithId = Object.keys(routes).filter((name) =>
  routes[name as RouteName].path.includes("{id}"),
) as RouteName[];

/** All that the owner can see: it must stay as it is. */
const viewOf = async ({ request }: Tenants, { key, items, jobs, conversations }: Tenant): Promise<unknown> => {
  const reads: readonly (readonly [RouteName, ApiRequest])[] = [
    ["listWorkItems", {}],
    ["listWorkItemUploads", {}],
    ["listConversationUploads", {}],
    ...items.map((id) => ["getWorkItem", { params: { id } }] as const),
    ...items.map((id) => ["listWorkItemEvents", { params: { id } }] as const),
    ...jobs.map((id) => ["getWorkItemUpload", { params: { id } }] as const),
    ...conversations.map((id) => ["getConversationUpload", { params: { id } }] as const),
  ];
  const responses: object[] = [];
  for (const [name, changes] of reads) {
    const { status, text } = await request(name, key, changes);
    responses.push({ status, text });
  }
  return responses;
};

/**
 * Calls every endpoint that takes an id with every kind of id of another organization, and with headers that fit. Each
 * response must be that to an ID that doesn't exist, and nothing of the other organization may change.
 */
export const compareForeignIds = async (tenants: Tenants): Promise<Comparison> => {
  const { request, owner, stranger } = tenants;
  const differences: object[] = [];
  let compared = 0;
  const before = await viewOf(tenants, owner);
  const foreign = [
    ...owner.items,
    ...owner.events,
    ...owner.jobs,
    ...owner.conversations,
    owner.id,
    `${owner.id}#${owner.items[0]}`,
    `ITEM#${owner.id}#${owner.items[0]}`,
    workItemId(owner.id, "never made"),
  ];
  const headersToTry = [{}, { "if-match": '"1"' }, { "if-none-match": "*" }];
  for (const name of namesWithId) {
    for (const headers of headersToTry) {
      const body = routes[name].bodyKind === "none" ? undefined : (bodies[name] ?? exampleBodyOf(routes[name]));
      const responseTo = async (id: string) =>
        comparable(await request(name, stranger.key, { params: { id }, headers, body }));
      const [unknownId, noId] = [await responseTo(randomUUID()), await responseTo("no id")];
      if (unknownId.status !== 404 || noId.status !== 404) differences.push({ name, headers, unknownId, noId });
      for (const id of foreign) {
        const [response, unknown] = [await responseTo(id), parseUuid(id) === undefined ? noId : unknownId];
        compared += 1;
        if (!isDeepStrictEqual(response, unknown)) differences.push({ name, headers, id, response, unknown });
      }
    }
  }
  if (!isDeepStrictEqual(await viewOf(tenants, owner), before)) differences.push({ changed: "what the owner sees" });
  return { compared, differences };
};

/** A call that names things by the organization's own names, or by an id in its body. */
type NamedCall = readonly [RouteName, (names: { readonly externalId: string; readonly job: string }) => ApiRequest];
const namedCalls: readonly NamedCall[] = [
  ["createWorkItem", ({ externalId: external_id }) => ({ body: { work_item: { external_id } } })],
  ["applyWorkItemBatch", ({ externalId: external_id }) => ({ body: { work_items: [{ external_id }], dry_run: true } })],
  ["applyWorkItemBatch", ({ externalId: external_id }) => ({ body: { work_items: [{ external_id, type: "other" }] } })],
  ["getWorkItemBatch", ({ externalId }) => ({ body: { external_ids: [externalId] } })],
  ["deleteWorkItemBatch", ({ externalId }) => ({ body: { external_ids: [externalId] } })],
  ["listWorkItems", ({ externalId }) => ({ query: { external_id: externalId } })],
  ["listWorkItems", () => ({ query: { agent_external_id: "agent" } })],
  ["listWorkItems", () => ({})],
  ["listWorkItemUploads", () => ({})],
  ["listConversationUploads", ({ externalId }) => ({ query: { external_id: externalId } })],
  ["listConversationUploads", () => ({})],
  ["uploadWorkItems", ({ job }) => ({ body: { upload: { filename: "a.csv", size: 1, mapping: { from: job } } } })],
];

/**
 * Lets one organization that has nothing use the names of another one's things, and a second one names that nobody
 * uses. What they get must be the same but for the names and the ids that follow from them.
 */
export const compareForeignNames = async (tenants: Tenants): Promise<Comparison> => {
  const { request, owner, createEmpty } = tenants;
  const differences: object[] = [];
  let compared = 0;
  const before = await viewOf(tenants, owner);
  const usedName = "shared 1";
  const unusedName = "unused 1";
  for (const [name, requestOf] of namedCalls) {
    const [first, second] = [await createEmpty(), await createEmpty()];
    const asText = ({ text }: ApiResponse, id: string): string =>
      text
        .replaceAll(unusedName, usedName)
        .replaceAll(id, "<organization>")
        .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, "<id>")
        .replaceAll(/2026-03-[^"]*Z/g, "<time>");
    const job = owner.jobs[0] ?? "";
    const foreign = await request(name, first.key, requestOf({ externalId: usedName, job }));
    const unknown = await request(name, second.key, requestOf({ externalId: unusedName, job: randomUUID() }));
    compared += 1;
    const isSame = foreign.status === unknown.status && asText(foreign, first.id) === asText(unknown, second.id);
    if (!isSame || foreign.text.includes(owner.id)) differences.push({ name, foreign, unknown });
  }
  if (!isDeepStrictEqual(await viewOf(tenants, owner), before)) differences.push({ changed: "what the owner sees" });
  return { compared, differences };
};

/** Number of endpoints whose ids are compared. */
export const endpointsWithId = allRoutes().filter(({ path }) => path.includes("{id}")).length;
