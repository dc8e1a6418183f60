import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { routes } from "../../functions/routes.ts";
import { methodsOf, type Route } from "../../lib/http/route.ts";
import { createKey } from "../../lib/operator/keys.ts";
import { KEY_SCOPES, type KeyScope } from "../../lib/organizations/key-scope.ts";
import { createTestClock } from "../support/clock.ts";
import { withoutTimeouts } from "../support/faults.ts";
import { createHandlers, type Handlers, type RouteName } from "../support/handlers.ts";
import { administrationOf, type ApiRequest, call, createTestOrganization } from "../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";

let runtime: TestRuntime;
let handlers: Handlers;
let keys: Record<KeyScope, string>;
beforeAll(async () => {
  // The clock stands still, so that no limit refills between two calls.
  runtime = await createTestRuntime({ clock: createTestClock(Date.now()) });
  handlers = await createHandlers(runtime);
  const { organization } = await createTestOrganization(runtime);
  const made = KEY_SCOPES.map(async (scope) => {
    const { key } = await createKey(administrationOf(runtime), organization.id, { scopes: [scope] });
    return [scope, key] as const;
  });
  keys = Object.fromEntries(await Promise.all(made)) as Record<KeyScope, string>;
});

const send = (name: RouteName, request: ApiRequest) => call(handlers[name], request);

/**
 * What an endpoint needs: anything about webhooks needs `webhooks`; reading, by GET or of many items, needs `read`, changing
 * uploads `upload`, and any other change `write`. Every key may ask for itself.
 */
const neededFor = ({ public: isPublic, method, path }: Route): KeyScope | "nothing" => {
  if (isPublic === true || path === "/v1/me") return "nothing";
  if (path.startsWith("/v1/webhooks")) return "webhooks";
  if (method === "GET" || path === "/v1/work_items/batch_get") return "read";
  return path.startsWith("/v1/work_items/upload") ? "upload" : "write";
};
const calls = (Object.keys(routes) as RouteName[]).flatMap((name) =>
  methodsOf(routes[name]).map((method) => [method, name] as const),
);

describe("a key with one scope", () => {
  it.each(calls)("may %s %s with that scope alone", async (method, name) => {
    const route: Route = routes[name];
    const { path: resource, dryRunScope } = route;
    const needed = neededFor(route);
    for (const scope of KEY_SCOPES) {
      const { status, text, headers } = await send(name, {
        method,
        resource,
        params: { id: "none" },
        key: keys[scope],
      });
      // A batch says in its body whether it only reads, so that here it is refused for want of a body.
      const isRefused = needed !== "nothing" && scope !== needed && scope !== dryRunScope;
      expect([scope, status === 403]).toEqual([scope, isRefused]);
      if (!isRefused) continue;
      expect(headers["www-authenticate"]).toBe(`Bearer error="insufficient_scope", scope="${needed}"`);
      const error = `this API key lacks the scope ${needed}`;
      expect(text).toBe(method === "HEAD" ? "" : JSON.stringify({ error }));
    }
  });

  it("gets problem details where the caller accepts them", async () => {
    const { body } = await send("deleteWorkItem", {
      method: "DELETE",
      resource: "/v1/work_items/{id}",
      params: { id: "none" },
      key: keys.read,
      headers: { accept: "application/problem+json" },
    });
    expect(body).toMatchObject({ type: "urn:work-items:problem:missing-scope", status: 403, errors: [] });
  });
});

describe("the order of checks", () => {
  beforeEach(withoutTimeouts);

  it("is key, scope, rate, body", async () => {
    const { organization, key } = await createTestOrganization(runtime, { rate: 1, burst: 1 });
    const { key: reader } = await createKey(administrationOf(runtime), organization.id, { scopes: ["read"] });
    const create = (bearer: string) =>
      send("createWorkItem", { method: "POST", resource: "/v1/work_items", key: bearer, body: "{" });
    expect((await create(key)).status).toBe(400);
    expect((await create(key)).status).toBe(429);
    expect((await create(reader)).status).toBe(403);
    expect((await create(`${reader.slice(0, -1)}_`)).status).toBe(401);
  });
});

describe("a batch with a key that only reads", () => {
  const batch = (dryRun: boolean) =>
    send("applyWorkItemBatch", {
      method: "POST",
      resource: "/v1/work_items/batch",
      key: keys.read,
      body: { dry_run: dryRun, work_items: [{ external_id: "a" }] },
    });

  it("is previewed, and rejected without dry_run", async () => {
    expect((await batch(true)).status).toBe(200);
    expect(await batch(false)).toMatchObject({ status: 403, body: { error: "this API key lacks the scope write" } });
    expect((await batch(true)).body).toMatchObject({ data: { summary: { created: 1 } } });
  });
});

describe("a key from before scopes", () => {
  it("has all of them", async () => {
    const { key } = await createTestOrganization(runtime);
    for (const name of ["createWorkItem", "uploadWorkItems"] satisfies RouteName[]) {
      expect((await send(name, { method: "POST", key, body: "{" })).status).toBe(400);
    }
  });
});
