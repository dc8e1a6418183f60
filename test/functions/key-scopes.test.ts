import { beforeAll, describe, expect, it } from "vitest";
import { allRoutes, type routes } from "../../functions/routes.ts";
import type { Route } from "../../lib/http/route.ts";
import { scopeOf } from "../../lib/http/scope.ts";
import { createKey } from "../../lib/organizations/administration.ts";
import { KEY_SCOPES, type KeyScope } from "../../lib/organizations/key-scope.ts";
import { createHandlers, type Handlers, type RouteName } from "../support/handlers.ts";
import { administrationOf, type ApiRequest, call, createTestOrganization } from "../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";

let runtime: TestRuntime;
let handlers: Handlers;
let keys: Record<KeyScope, string>;
beforeAll(async () => {
  runtime = await createTestRuntime();
  handlers = await createHandlers(runtime);
  const { organization } = await createTestOrganization(runtime);
  const made = KEY_SCOPES.map(async (scope) => {
    const { key } = await createKey(administrationOf(runtime), organization.id, { scopes: [scope] });
    return [scope, key] as const;
  });
  keys = Object.fromEntries(await Promise.all(made)) as Record<KeyScope, string>;
});

const nameOf = (route: Route) =>
  Object.keys(handlers).find((name) => name.toLowerCase() === route.name.replaceAll("-", "")) as RouteName;
const send = (name: RouteName, request: ApiRequest) => call(handlers[name], request);
const guarded = allRoutes.filter((route) => route.public !== true);

describe("a key without the scope", () => {
  it.each(guarded.map((route) => [route.name, route] as const))("is refused by %s with 403", async (_, route) => {
    const { method, path: resource } = route;
    const needed = scopeOf(route);
    const lacking = KEY_SCOPES.filter((scope) => scope !== needed && scope !== route.dryRunScope);
    for (const scope of lacking) {
      const response = await send(nameOf(route), { method, resource, params: { id: "none" }, key: keys[scope] });
      expect(response).toMatchObject({ status: 403, body: { error: `this API key lacks the scope ${needed}` } });
      expect(response.headers["www-authenticate"]).toBe(`Bearer error="insufficient_scope", scope="${needed}"`);
    }
    const allowed = await send(nameOf(route), { method, resource, params: { id: "none" }, key: keys[needed] });
    expect(allowed.status).not.toBe(403);
  });

  it("is refused as a problem where the caller reads problems", async () => {
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

  it("is previewed, and refused without dry_run", async () => {
    expect((await batch(true)).status).toBe(200);
    expect(await batch(false)).toMatchObject({ status: 403, body: { error: "this API key lacks the scope write" } });
    expect((await batch(true)).body).toMatchObject({ data: { summary: { created: 1 } } });
  });
});

describe("a key from before scopes", () => {
  it("has all of them", async () => {
    const { key } = await createTestOrganization(runtime);
    for (const name of ["createWorkItem", "uploadWorkItems"] satisfies (keyof typeof routes)[]) {
      expect((await send(name, { method: "POST", key, body: "{" })).status).toBe(400);
    }
  });
});
