import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import document from "../../docs/openapi.json" with { type: "json" };
import { create as recordQaScore } from "../../functions/record-qa-score.ts";
import { routes } from "../../functions/routes.ts";
import { methodsOf, type Route } from "../../lib/http/route.ts";
import { createKey } from "../../apps/operator/data/key-management.ts";
import { KEY_SCOPES, type KeyScope } from "../../lib/organizations/api-key.ts";
import { createTestClock } from "../support/clock.ts";
import { withoutTimeouts } from "../support/faults.ts";
import { createHandlers, type Handlers, type RouteName } from "../support/handlers.ts";
import {
  administrationOf,
  type ApiRequest,
  type ApiResponse,
  call,
  createTestOrganization,
} from "../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";
import { multipart } from "../support/uploads/multipart.ts";

let runtime: TestRuntime;
let handlers: Handlers;
/** Every set of scopes, from none to all. */
const SETS = Array.from({ length: 2 ** KEY_SCOPES.length }, (_, bits): readonly KeyScope[] =>
  KEY_SCOPES.filter((_scope, place) => ((bits >> place) & 1) === 1),
);
let owner: Awaited<ReturnType<typeof createTestOrganization>>;
let keys: ReadonlyMap<string, string>;
const keyWith = (...scopes: readonly KeyScope[]): string => keys.get(String(scopes))!;
beforeAll(async () => {
  // The clock stands still, so that no limit refills between two calls.
  runtime = await createTestRuntime({ clock: createTestClock(Date.now()) });
  handlers = await createHandlers(runtime);
  owner = await createTestOrganization(runtime);
  const made = SETS.map(async (scopes) => {
    const { key } = await createKey(administrationOf(runtime), owner.organization.id, { scopes });
    return [String(scopes), key] as const;
  });
  keys = new Map(await Promise.all(made));
});

const send = (name: RouteName, request: ApiRequest = {}) => {
  const { method, path: resource } = routes[name];
  return call(handlers[name], { method, resource, ...request });
};

/** What the calls of each endpoint need, as the guide says it. */
const NEEDED: Readonly<Record<RouteName, readonly KeyScope[]>> = {
  applyWorkItemBatch: ["write"],
  getWorkItemBatch: ["read"],
  deleteWorkItemBatch: ["write"],
  createWorkItem: ["write"],
  listWorkItems: ["read"],
  listWorkItemChanges: ["read"],
  getWorkItem: ["read"],
  updateWorkItem: ["read", "write"],
  deleteWorkItem: ["write"],
  upsertWorkItemEvent: ["read", "write"],
  deleteWorkItemEvent: ["read", "write"],
  listWorkItemEvents: ["read"],
  uploadWorkItems: ["upload"],
  getWorkItemUpload: ["read"],
  listWorkItemUploads: ["read"],
  getWorkItemUploadTemplate: [],
  cancelWorkItemUpload: ["upload"],
  undoWorkItemUpload: ["upload"],
  getWorkItemUploadFailedRows: ["read"],
  getWorkItemUploadResults: ["read"],
  listConversationUploads: ["read"],
  getConversationUpload: ["read"],
  createWebhook: ["webhooks"],
  listWebhooks: ["webhooks"],
  getWebhook: ["webhooks"],
  updateWebhook: ["webhooks"],
  deleteWebhook: ["webhooks"],
  rotateWebhookSecret: ["webhooks"],
  testWebhook: ["webhooks"],
  resendWebhook: ["webhooks"],
  getMe: [],
  getHealth: [],
  getOpenapiDocument: [],
};
const FROM = { from: crypto.randomUUID() };
const file = (fields: object) => multipart("external_id\n1\n", { ...fields });
const form = (upload: object): ApiRequest => ({ body: { upload: { filename: "a.csv", size: 1, ...upload } } });
/** Every way to call an endpoint whose body says what the call needs. */
const WAYS: Partial<Record<RouteName, readonly (readonly [string, readonly KeyScope[], ApiRequest])[]>> = {
  applyWorkItemBatch: [false, true].map((dry_run) => [
    `dry_run: ${dry_run}`,
    dry_run ? ["read"] : ["write"],
    { body: { dry_run, work_items: [{ external_id: "walked" }] } },
  ]),
  deleteWorkItemBatch: [false, true].map((dry_run) => [
    `dry_run: ${dry_run}`,
    dry_run ? ["read"] : ["write"],
    { body: { dry_run, external_ids: ["walked"] } },
  ]),
  uploadWorkItems: [
    ["a file", ["upload"], file({})],
    ["a file, not tried", ["upload"], file({ dry_run: "false" })],
    ["the trial of a file", ["read", "upload"], file({ dry_run: "true" })],
    ["a file with another's mapping", ["read", "upload"], file({ mapping: FROM })],
    ["the trial of a file with another's mapping", ["read", "upload"], file({ mapping: FROM, dry_run: "true" })],
    ["a form", ["upload"], form({ dry_run: false })],
    ["the trial of a form", ["read", "upload"], form({ dry_run: true })],
    ["a form with another's mapping", ["read", "upload"], form({ mapping: FROM })],
  ],
  undoWorkItemUpload: [
    ["no body", ["upload"], {}],
    ["an undo", ["upload"], { body: { undo: { dry_run: false } } }],
    ["the trial of an undo", ["read", "upload"], { body: { undo: { dry_run: true } } }],
  ],
};
const names = Object.keys(routes) as RouteName[];
const calls = names.flatMap((name) =>
  (WAYS[name] ?? methodsOf(routes[name]).map((method) => [method, NEEDED[name], { method }] as const)).map(
    ([how, needed, request]) => [name, how, needed, request] as const,
  ),
);

describe("a key", () => {
  it.each(calls)("may call %s (%s) if it has all the scopes that the call needs", async (name, _, needed, request) => {
    for (const scopes of SETS) {
      const key = keyWith(...scopes);
      const { status, text, headers } = await send(name, { params: { id: "none" }, ...request, key });
      const lacking = needed.filter((scope) => !scopes.includes(scope));
      expect([scopes, status === 403]).toEqual([scopes, lacking.length > 0]);
      if (lacking.length === 0) continue;
      expect(headers["www-authenticate"]).toBe(`Bearer error="insufficient_scope", scope="${needed.join(" ")}"`);
      const error = `this API key lacks the scope${lacking.length > 1 ? "s" : ""} ${lacking.join(" and ")}`;
      expect(text).toBe(request.method === "HEAD" ? "" : JSON.stringify({ error }));
    }
  });

  it("is asked for more wherever a body can ask for a dry run or another's mapping", () => {
    const asking = names.filter((name) => {
      const { body, fields = body }: Route = routes[name];
      const schemas = [body, fields].map((schema) =>
        JSON.stringify(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })),
      );
      return schemas.some((schema) => /"(dry_run|from)":/.test(schema));
    });
    expect(asking).toEqual(Object.keys(WAYS));
    for (const name of asking) expect((routes[name] as Route).acts).toContain("dry_run");
  });

  it.each(names)("finds in the document what %s needs", (name) => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const { description } = operations.find(({ operationId }) => operationId === name)!;
    const [, sentence = ""] = /\nNeeds the scopes? (.*)\./.exec(description) ?? [];
    const scopes = [...sentence.matchAll(/`(read|write|upload|webhooks)`/g)].map(([, scope]) => scope);
    const ofWays = [...new Set(WAYS[name]?.map(([, needed]) => String(needed)))].flatMap((needed) => needed.split(","));
    expect(scopes).toEqual(WAYS[name] ? ofWays : NEEDED[name]);
  });

  it("gets problem details where the caller accepts them", async () => {
    const { body } = await send("deleteWorkItem", {
      params: { id: "none" },
      key: keyWith("read"),
      headers: { accept: "application/problem+json" },
    });
    expect(body).toMatchObject({ type: "urn:work-items:problem:missing-scope", status: 403, errors: [] });
  });
});

describe("the order of checks", () => {
  beforeEach(withoutTimeouts);

  it("is key, scope, rate, body, and scope again where the body says what the call needs", async () => {
    const { organization, key } = await createTestOrganization(runtime, { rate: 1, burst: 1 });
    const { key: reader } = await createKey(administrationOf(runtime), organization.id, { scopes: ["read"] });
    const create = (bearer: string) => send("createWorkItem", { key: bearer, body: "{" });
    expect((await create(key)).status).toBe(400);
    expect((await create(key)).status).toBe(429);
    expect((await create(reader)).status).toBe(403);
    expect((await create(`${reader.slice(0, -1)}_`)).status).toBe(401);
    const { key: writer } = await createKey(administrationOf(runtime), owner.organization.id, { scopes: ["write"] });
    const cancelOrUndo = (name: "cancelWorkItemUpload" | "undoWorkItemUpload") =>
      send(name, { key: writer, params: { id: "none" }, body: "{" });
    expect((await cancelOrUndo("cancelWorkItemUpload")).status).toBe(403);
    expect((await cancelOrUndo("undoWorkItemUpload")).status).toBe(400);
  });
});

/** What a key without `read` must not see: it stands in all that the owner stores. */
const SECRET = "canary";
/** All scopes but `read`. */
const BLIND: readonly KeyScope[] = KEY_SCOPES.filter((scope) => scope !== "read");
const WITH_EVENT = { events: [{ external_id: "e", actor_name: SECRET, content: SECRET }] };
const ITEM = { agent_email: `${SECRET}@example.com`, custom_attributes: { note: SECRET }, ...WITH_EVENT };
const ITEM_CHANGE = { agent_email: ITEM.agent_email };
const MAPPING = { fields: { external_id: { column: "id" }, type: { column: SECRET } } };

describe("a key without read", () => {
  const named = (external_id: string, more: object = {}) => ({ external_id, ...more });
  const blind = (name: RouteName, request: ApiRequest) => send(name, { key: keyWith(...BLIND), ...request });
  const idOf = ({ body }: { readonly body: object }) => (body as { readonly data: { readonly id: string } }).data.id;
  const store = async (externalId: string): Promise<string> =>
    idOf(await send("createWorkItem", { key: owner.key, body: { work_item: named(externalId, ITEM) } }));
  const secretKey = async (): Promise<string> =>
    (await createKey(administrationOf(runtime), owner.organization.id, { name: SECRET })).key;
  /** A form keeps the job open. */
  const startUpload = async (): Promise<string> => {
    const body = { upload: { filename: `${SECRET}.csv`, size: 10, mapping: MAPPING } };
    return idOf(await send("uploadWorkItems", { key: await secretKey(), body }));
  };

  /** Calls that such a key may make on what the owner has stored, with the status of each. */
  const trials: Partial<Record<RouteName, (() => Promise<[number, Promise<ApiResponse>]>)[]>> = {
    applyWorkItemBatch: ["nothing", "something"].map((what) => async () => {
      const change = what === "nothing" ? {} : { type: "changed", events: [{ external_id: "e", actor_name: "Ann" }] };
      await store(what);
      return [200, blind("applyWorkItemBatch", { body: { work_items: [named(what, change)] } })];
    }),
    deleteWorkItemBatch: [
      async () => [200, blind("deleteWorkItemBatch", { body: { ids: [await store(`${SECRET} by id`)] } })],
    ],
    createWorkItem: [
      async () => {
        await store("taken");
        return [409, blind("createWorkItem", { body: { work_item: named("taken") } })];
      },
    ],
    deleteWorkItem: [async () => [200, blind("deleteWorkItem", { params: { id: await store("deleted") } })]],
    uploadWorkItems: [
      async () => {
        const request = multipart("external_id\n1\n");
        const headers = { ...request.headers, "Idempotency-Key": "same file" };
        await send("uploadWorkItems", { ...request, key: await secretKey(), headers });
        return [202, blind("uploadWorkItems", { ...request, headers })];
      },
      async () => {
        const mapping = { from: await startUpload() };
        return [403, blind("uploadWorkItems", multipart("id\n1\n", { mapping }))];
      },
      async () => {
        const mapping = { from: await startUpload() };
        return [403, blind("uploadWorkItems", { body: { upload: { filename: "a", size: 1, mapping } } })];
      },
    ],
    cancelWorkItemUpload: [async () => [200, blind("cancelWorkItemUpload", { params: { id: await startUpload() } })]],
    undoWorkItemUpload: [true, false].map((dry_run) => async () => {
      const params = { id: await startUpload() };
      await send("cancelWorkItemUpload", { params, key: owner.key });
      return [dry_run ? 403 : 202, blind("undoWorkItemUpload", { params, body: { undo: { dry_run } } })];
    }),
  };
  const mayCall = names.filter((name) => {
    const needed = NEEDED[name];
    return needed.includes("write") || needed.includes("upload") ? !needed.includes("read") : false;
  });

  it.each(mayCall)("never sees by %s what others have stored", async (name) => {
    const made = trials[name];
    if (made === undefined) throw new Error(`trials must say what ${name} could show`);
    for (const make of made) {
      const [status, sent] = await make();
      const response = await sent;
      expect([response.status, response.text]).toEqual([status, expect.not.stringContaining(SECRET)]);
    }
  });

  it("gets the status of each item of a batch, and no data", async () => {
    const body = { work_items: [named("a batch's"), named("a batch's"), named("a batch's", { type: "other" })] };
    const { results } = (await blind("applyWorkItemBatch", { body })).body.data as unknown as {
      readonly results: readonly unknown[];
    };
    expect(results).toMatchObject(
      ["created", "unchanged", "updated"].map((status) => ({ status, external_id: "a batch's", data: null })),
    );
    const reader = await send("applyWorkItemBatch", { key: keyWith("read", "write"), body });
    expect(reader.text).toContain('"type":"other"');
  });

  it("deletes items, and gets the names that it sent", async () => {
    const id = await store("by name");
    const { text } = await blind("deleteWorkItemBatch", { body: { external_ids: ["by name"] } });
    expect(JSON.parse(text)).toMatchObject({ data: { results: [{ id, external_id: "by name", status: "deleted" }] } });
  });

  it("cancels the dry run of a file, and doesn't see what it changes", async () => {
    const upload = await send("uploadWorkItems", { key: owner.key, ...form({ dry_run: true }) });
    expect(upload.body.data).toMatchObject({ dry_run: true, changed_fields: {} });
    const { body } = await blind("cancelWorkItemUpload", { params: { id: idOf(upload) } });
    expect(body.data).toMatchObject({ id: idOf(upload), dry_run: true });
    expect(body.data).not.toHaveProperty("changed_fields");
  });

  describe("that repeats a create with its Idempotency-Key", () => {
    const create = (externalId: string, key = keyWith(...BLIND)) =>
      send("createWorkItem", {
        key,
        body: {
          work_item: named(externalId, externalId.includes("event") ? { events: [{ external_id: "e" }] } : {}),
        },
        headers: { "Idempotency-Key": "repeated" },
      });

    it("gets the item as the create left it", async () => {
      for (const name of ["left alone", "left alone with an event"]) {
        const first = await create(name);
        expect([first.status, first.text]).toEqual([201, (await create(name)).text]);
      }
    });

    it.each<[string, (params: { readonly id: string }) => Promise<unknown>]>([
      ["is changed", (params) => send("updateWorkItem", { key: owner.key, params, body: { work_item: ITEM_CHANGE } })],
      [
        "is changed and changed back",
        async (params) => {
          for (const type of ["other", "work_item"]) {
            await send("updateWorkItem", { key: owner.key, params, body: { work_item: { type } } });
          }
        },
      ],
      [
        "is scored",
        () => recordQaScore(runtime)({ organization: owner.organization.id, external_id: "is scored", qa_score: 0.5 }),
      ],
      [
        "gets another event",
        (params) => send("upsertWorkItemEvent", { key: owner.key, params, body: { event: { external_id: "g" } } }),
      ],
      [
        "has an event changed",
        (params) =>
          send("upsertWorkItemEvent", {
            key: owner.key,
            params,
            body: { event: { external_id: "e", content: SECRET } },
          }),
      ],
    ])("gets a 403 once the item %s", async (change, make) => {
      const id = idOf(await create(change));
      await make({ id });
      const refused = await create(change);
      expect(refused).toMatchObject({ status: 403, body: { error: "this API key lacks the scope read" } });
      expect(refused.headers["www-authenticate"]).toContain('scope="read write"');
      expect((await create(change, owner.key)).status).toBe(201);
    });
  });
});

describe("a key from before scopes", () => {
  it("has all of them", async () => {
    const { key } = await createTestOrganization(runtime);
    for (const name of ["createWorkItem", "uploadWorkItems"] satisfies RouteName[]) {
      expect((await send(name, { key, body: "{" })).status).toBe(400);
    }
  });
});
