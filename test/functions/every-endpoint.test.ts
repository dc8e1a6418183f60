import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { create as createWebhook } from "../../functions/create-webhook.ts";
import { create as createWorkItem } from "../../functions/create-work-item.ts";
import { create as recordConversationUpload } from "../../functions/record-conversation-upload.ts";
import { allRoutes } from "../../functions/routes.ts";
import { create as uploadWorkItems } from "../../functions/upload-work-items.ts";
import type { ApiHandler } from "../../lib/http/middleware.ts";
import type { Route } from "../../lib/http/route.ts";
import { createKey, revokeKey } from "../../apps/operator/data/key-management.ts";
import { workItemEventId } from "../../lib/identity.ts";
import { generateApiKey } from "../../lib/organizations/api-key.ts";
import { createTestClock } from "../support/clock.ts";
import { withoutTimeouts } from "../support/faults.ts";
import { exampleBodyOf } from "../support/openapi/example-body.ts";
import {
  administrationOf,
  type ApiResponse,
  type ApiRequest,
  call,
  createTestOrganization,
} from "../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";

const clock = createTestClock();
let runtime: TestRuntime;
let owner: Awaited<ReturnType<typeof createTestOrganization>>;
let stranger: typeof owner;

const idOf = async (handler: ApiHandler, request: ApiRequest): Promise<string> => {
  const { text } = await call(handler, { key: owner.key, ...request });
  return (JSON.parse(text) as { data: { id: string } }).data.id;
};

beforeAll(async () => {
  runtime = await createTestRuntime({ clock });
  owner = await createTestOrganization(runtime);
  stranger = await createTestOrganization(runtime);
});

/** Functions that make a resource of the owner, by the path of its list. */
const makeResource: Readonly<Record<string, () => Promise<string>>> = {
  "/v1/work_items": () =>
    idOf(createWorkItem(runtime), {
      method: "POST",
      body: { work_item: { external_id: randomUUID(), events: [{ external_id: "event" }] } },
    }),
  "/v1/work_items/upload": () =>
    idOf(uploadWorkItems(runtime), { method: "POST", body: { upload: { filename: "file.csv", size: 100 } } }),
  // Its address is refused when it is called.
  "/v1/webhooks": () =>
    idOf(createWebhook(runtime), { method: "POST", body: { webhook: { url: "https://localhost:4000/hook" } } }),
  "/v1/conversation_uploads": async () => {
    const conversation = { external_id: randomUUID(), status: "pending", source: "phone" };
    return (await recordConversationUpload(runtime)({ organization: owner.organization.id, ...conversation })).id;
  },
};

/** Makes what a route's `{id}` names. @returns its id; an empty one if the path has none */
const makeResourceOf = ({ path }: Route): Promise<string> | string => {
  const [list = "", rest] = path.split("/{id}");
  if (rest === undefined) return "";
  const make = makeResource[list];
  if (make === undefined) throw new Error(`makeResource must say how something in ${list} is made, for ${path}`);
  return make();
};

/** The path parameters of a route for the resource with an id. */
const paramsOf = ({ path }: Pick<Route, "path">, id: string): Record<string, string> => ({
  ...(path.includes("{id}") && { id }),
  ...(path.includes("{event_id}") && { event_id: workItemEventId(id, "event") }),
});

const functionOf = async (route: Route): Promise<(from: TestRuntime) => ApiHandler> =>
  ((await import(`../../functions/${route.name}.ts`)) as { create: (from: TestRuntime) => ApiHandler }).create;

const requestTo = (route: Route, changes: ApiRequest = {}): ApiRequest => ({
  method: route.method,
  resource: route.path,
  params: paramsOf(route, randomUUID()),
  ...(route.bodyKind !== "none" && { body: exampleBodyOf(route) }),
  ...changes,
});

const expectError = ({ status, headers, text, body }: ApiResponse, expected: number): void => {
  expect({ status, text }).toMatchObject({ status: expected });
  expect(Object.keys(body)).toEqual(["error"]);
  expect(body.error).toMatch(/./);
  expect(headers["content-type"]).toBe("application/json");
  expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
};

/** The routes that need a key. */
const routesWithKey = allRoutes().filter((route) => route.public !== true);

beforeEach(withoutTimeouts);

describe.each(routesWithKey)("$method $path", (route) => {
  let handler: ApiHandler;
  beforeAll(async () => {
    handler = (await functionOf(route))(runtime);
  });

  it("responds to an owner with JSON and the request's id", async () => {
    const { key } = await createTestOrganization(runtime);
    const response = await call(handler, requestTo(route, { key }));
    expect(response.status).toBe(route.path.includes("{id}") ? 404 : route.status);
    expect(response.headers).toMatchObject({ "content-type": "application/json" });
    expect(response.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("responds with 401 without a key and with an unknown one", async () => {
    const without = await call(handler, requestTo(route));
    expectError(without, 401);
    expect(without.headers["www-authenticate"]).toBe("Bearer");
    expect(without.headers).not.toHaveProperty("ratelimit");
    const unknown = await call(handler, requestTo(route, { key: generateApiKey("us") }));
    expectError(unknown, 401);
    expect(unknown.text).toBe(without.text);
  });

  it("responds with 429 and whole seconds to wait, before it validates the request", async () => {
    clock.advance(2000);
    const { key } = await createTestOrganization(runtime, { rate: 1, burst: 1 });
    await call(handler, requestTo(route, { key }));
    const refused = await call(handler, requestTo(route, { key, query: { what: "ever" } }));
    expectError(refused, 429);
    expect(refused.headers).toMatchObject({
      "retry-after": "1",
      ratelimit: '"organization";r=0;t=1',
      "ratelimit-policy": '"organization";q=1;w=1',
    });
    clock.advance(1000);
    expect((await call(handler, requestTo(route, { key }))).status).not.toBe(429);
  });

  it("names an unknown query parameter, and one given twice", async () => {
    const unknown = await call(handler, requestTo(route, { key: owner.key, query: { colour: "red" } }));
    expectError(unknown, 422);
    expect(unknown.body.error).toBe("colour: is not known");
    const twice = await call(handler, requestTo(route, { key: owner.key, query: { limit: ["10", "10"] } }));
    expectError(twice, 422);
    expect(twice.body.error).toMatch(/^limit: must be given once/);
  });
});

/** It is the same for all routes. */
describe("the chain before each handler", () => {
  const route = allRoutes().find(({ path }) => path === "/v1/me")!;
  let handler: ApiHandler;
  beforeAll(async () => {
    handler = (await functionOf(route))(runtime);
  });

  it("responds with 401 to a malformed, mistyped, unknown and wrong-region key", async () => {
    const { key } = owner;
    const authorizations = [
      "",
      key,
      `Basic ${key}`,
      "Bearer",
      "Bearer nonsense",
      `Bearer ${key.slice(0, -1)}`,
      `Bearer ${key.slice(0, -1)}${key.endsWith("x") ? "y" : "x"}`,
      `Bearer ${generateApiKey("us")}`,
      `Bearer ${generateApiKey("eu")}`,
    ];
    const without = await call(handler, requestTo(route));
    for (const Authorization of authorizations) {
      const response = await call(handler, requestTo(route, { headers: { Authorization } }));
      expectError(response, 401);
      expect(response.text).toBe(without.text);
    }
  });

  it("responds with 401 to a revoked and to an expired key", async () => {
    const { organization, key, keyId } = await createTestOrganization(runtime);
    const validUntil = new Date(clock() + 1000).toISOString();
    const expiring = await createKey(administrationOf(runtime), organization.id, { validUntil });
    for (const live of [key, expiring.key]) {
      expect((await call(handler, requestTo(route, { key: live }))).status).not.toBe(401);
    }
    await revokeKey(administrationOf(runtime), organization.id, keyId);
    clock.advance(60_000);
    for (const dead of [key, expiring.key]) expectError(await call(handler, requestTo(route, { key: dead })), 401);
  });

  it("takes the scheme in any case and the header in any spelling", async () => {
    for (const headers of [{ authorization: `bearer ${owner.key}` }, { AUTHORIZATION: `BEARER ${owner.key}` }]) {
      expect((await call(handler, requestTo(route, { headers }))).status).not.toBe(401);
    }
  });

  it("reports what is left of the organization's limit, whatever its status", async () => {
    const { key } = await createTestOrganization(runtime, { rate: 100, burst: 250 });
    for (const [query, remaining] of [
      [{}, 249],
      [{ what: "ever" }, 248],
    ] as const) {
      const { headers } = await call(handler, requestTo(route, { key, query }));
      expect(headers["ratelimit-policy"]).toBe('"organization";q=250;w=3');
      expect(headers["ratelimit"]).toBe(`"organization";r=${remaining};t=1`);
    }
  });
});

describe.each(allRoutes().filter(({ query }) => query.safeParse({ limit: "1" }).success))("$method $path", (route) => {
  const max = route.path === "/v1/work_items/changes" ? 1000 : 100;
  const others = route.path === "/v1/work_items" ? ["abc", "-1", "1.5", "1e1", "", " 1", "01"] : [];
  it.each(["0", String(max + 1), ...others])("responds with 422 to limit=%j", async (limit) => {
    const handler = (await functionOf(route))(runtime);
    const response = await call(handler, requestTo(route, { key: owner.key, query: { limit } }));
    expectError(response, 422);
    expect(response.body.error).toBe(`limit: must be a whole number from 1 to ${max}`);
  });
});

describe.each(allRoutes().filter(({ bodyKind }) => bodyKind !== "none"))("$method $path", (route) => {
  it.each([
    ["malformed JSON", "{", {}, 400, /not valid JSON/],
    ...(route.bodyKind === "optional-json"
      ? []
      : ([
          ["empty JSON", "", {}, 400, /is empty/],
          ["no body", undefined, { "content-type": "application/json" }, 400, /is empty/],
        ] as const)),
    ["another type", "a=b", { "content-type": "application/x-www-form-urlencoded" }, 415, /^Content-Type must be/],
    ["a body without a type", "{}", { "content-type": "" }, 415, /^Content-Type must be/],
    ["a body of 5 MiB", "x".repeat(5 * 1024 * 1024), {}, 413, /at most 4194304 bytes/],
    ["an array", [], {}, 422, /^body: /],
    ["an unknown key", { ...exampleBodyOf(route), colour: "red" }, {}, 422, /^colour: is not known$/],
  ] as const)("rejects %s", async (_, body, headers, status, error) => {
    const handler = (await functionOf(route))(runtime);
    const response = await call(handler, requestTo(route, { key: owner.key, body, headers }));
    expectError(response, status);
    expect(response.body.error).toMatch(error);
  });
});

describe.each(routesWithKey.filter(({ bodyKind }) => bodyKind === "none"))("$method $path", (route) => {
  it("ignores a body", async () => {
    const handler = (await functionOf(route))(runtime);
    const plain = await call(handler, requestTo(route, { key: owner.key }));
    const response = await call(
      handler,
      requestTo(route, { key: owner.key, body: "{", headers: { "content-type": "x" } }),
    );
    expect(response).toMatchObject({ status: plain.status, text: plain.text });
  });
});

describe.each(allRoutes().filter(({ path }) => path.includes("{id}")))("$method $path", (route) => {
  it("responds to other organizations' ids byte for byte as to unknown ids", async () => {
    const handler = (await functionOf(route))(runtime);
    const id = await makeResourceOf(route);
    const mine = await call(handler, requestTo(route, { key: owner.key, params: paramsOf(route, id) }));
    expect([route.status, 409]).toContain(mine.status);

    const unknown = await call(handler, requestTo(route, { key: stranger.key }));
    expectError(unknown, 404);
    for (const other of [id, id.toUpperCase()]) {
      const { status, text } = await call(
        handler,
        requestTo(route, { key: stranger.key, params: { ...paramsOf(route, id), id: other } }),
      );
      expect({ status, text }).toEqual({ status: 404, text: unknown.text });
    }
  });

  it("says how to look up an external_id to whoever sends one in place of an id", async () => {
    const handler = (await functionOf(route))(runtime);
    const id = randomUUID();
    const [list = ""] = route.path.split("/{id}");
    const isSearchable = ["/v1/work_items", "/v1/conversation_uploads"].includes(list);
    const hint = isSearchable ? `; to look up an external_id, use GET ${list}?external_id=…` : "";
    for (const other of ["a/b#c", "%00", `${id}-`]) {
      const response = await call(
        handler,
        requestTo(route, { key: stranger.key, params: { ...paramsOf(route, id), id: other } }),
      );
      expectError(response, 404);
      expect(response.body.error).toBe(`not found: an id is a UUID${hint}`);
    }
  });
});

describe.each(allRoutes().filter(({ method }) => method === "GET"))("$method $path", (route) => {
  it("responds to HEAD as to GET, without a body", async () => {
    const handler = (await functionOf(route))(runtime);
    const id = await makeResourceOf(route);
    for (const changes of [{ params: { id } }, { params: { id: "none" } }, { query: { what: "ever" } }, { key: "" }]) {
      const request = requestTo(route, { key: owner.key, ...changes });
      const { headers: got, ...get } = await call(handler, request);
      const { headers, ...head } = await call(handler, { ...request, method: "HEAD" });
      expect(head).toEqual({ status: get.status, text: "", body: {} });
      expect(Object.keys(headers).toSorted()).toEqual(Object.keys(got).toSorted());
    }
  });

  it("responds with 304 to a caller that has the representation, and with all of it to others", async () => {
    const handler = (await functionOf(route))(runtime);
    const id = await makeResourceOf(route);
    const request = (etag?: string) =>
      requestTo(route, { key: owner.key, params: { id }, headers: { ...(etag && { "If-None-Match": etag }) } });
    const first = await call(handler, request());
    const { etag = "" } = first.headers;
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const { status, headers, text } = await call(handler, request(known));
      expect({ status, text, etag: headers["etag"] }).toEqual({ status: 304, text: "", etag });
      expect(headers["x-request-id"]).toMatch(/./);
    }
    expect(await call(handler, request('"other"'))).toMatchObject({ status: 200, text: first.text });
  });
});
