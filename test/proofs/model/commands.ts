import assert from "node:assert/strict";
import * as fc from "fast-check";
import { conversationUploadId, workItemId } from "../../../lib/identity.ts";
import { isoTime } from "../../../lib/clock.ts";
import type { RouteName } from "../../support/handlers.ts";
import type { ApiRequest } from "../../support/organization.ts";
import type { Caller, ProofResponse, ProofService } from "../proof-service.ts";
import { changes, eventInput, externalId, filters, itemInput, row, toCsv } from "./inputs.ts";
import type { ItemInput } from "./reference-item.ts";
import { type Expected, type ModelRow, ReferenceOrganization } from "./reference-organization.ts";

/** One organization: what it should have, and its key. */
interface Tenant {
  readonly model: ReferenceOrganization;
  readonly caller: Caller;
  /** Its upload jobs and their files, in the order of their creation. */
  readonly jobs: { readonly id: string; readonly rows: readonly ModelRow[] }[];
  /** Its create requests, in order. */
  readonly creates: CreateRequest[];
}
interface CreateRequest {
  readonly input: ItemInput;
  readonly key: string | undefined;
}
/** Three organizations with the same external_ids. */
export type Tenants = readonly Tenant[];

/** A command runs against the service and the model at once, and compares them. */
export type Command = fc.AsyncCommand<Tenants, ProofService>;

/** Makes three organizations that have nothing. */
export const createTenants = async (service: ProofService): Promise<Tenants> => {
  const callers = await Promise.all([1, 2, 3].map(() => service.createOrganization()));
  return callers.map((caller) => ({
    caller,
    model: new ReferenceOrganization(caller.organization.id),
    jobs: [],
    creates: [],
  }));
};

/** Only what the model says of a value; extensions may say more. */
const likeModel = (actual: unknown, expected: unknown): unknown => {
  if (typeof actual !== "object" || typeof expected !== "object" || actual === null || expected === null) return actual;
  return Object.fromEntries(Object.entries(actual).filter(([name]) => Object.hasOwn(expected, name)));
};

const compare = ({ status, body, headers }: ProofResponse, expected: Expected): void => {
  assert.equal(status, expected.status, JSON.stringify(body));
  if (expected.body !== undefined) assert.deepEqual(body, expected.body);
  else assert.equal(typeof (body as { error?: unknown }).error, "string");
  if (expected.version !== undefined) assert.match(headers["etag"] ?? "", new RegExp(`^"${expected.version}-`));
};

interface Context {
  readonly tenant: Tenant;
  readonly tenants: Tenants;
  readonly service: ProofService;
  readonly now: string;
  readonly call: (name: RouteName, request?: ApiRequest) => Promise<ProofResponse>;
}
type Run<T> = (args: T, context: Context) => Promise<void>;

/** Each command belongs to one organization and moves the clock on first. */
const command = <T>(name: string, args: fc.Arbitrary<T>, run: Run<T>): fc.Arbitrary<Command> =>
  fc
    .tuple(args, fc.constantFrom(0, 0, 0, 0, 1, 2), fc.integer({ min: 1, max: 2000 }))
    .map(([given, index, milliseconds]) => ({
      check: () => true,
      run: async (tenants, service) => {
        service.clock.advance(milliseconds);
        const tenant = tenants[index]!;
        const call: Context["call"] = (route, request) => service.call(route, tenant.caller, request);
        await run(given, { tenant, tenants, service, now: isoTime(service.clock()), call });
      },
      toString: () => `${index}.${name}(${JSON.stringify(given)}) +${milliseconds}ms`,
    }));

/** An item by its external_id: the caller's own, or that of an organization which the caller cannot see. */
const target = fc.record({ externalId, owner: fc.option(fc.nat(2), { freq: 8 }) });
const idOf = (
  { externalId: name, owner }: { externalId: string; owner: number | null },
  { tenant, tenants }: Context,
) => workItemId((owner === null ? tenant : tenants[owner]!).model.id, name);

/** A version for `If-Match`: none, the item's own, or another one. */
const precondition = fc.constantFrom("none", "right", "wrong");
const versionFor = (kind: string, id: string, { tenant }: Context): number | undefined => {
  if (kind === "none") return undefined;
  const { version = 0 } = tenant.model.get(id);
  return kind === "right" ? version : version + 1;
};
const ifMatch = (version: number | undefined): Pick<ApiRequest, "headers"> =>
  version === undefined ? {} : { headers: { "if-match": `"${version}-0"` } };

/** Walks all pages of a list. */
const walk = async (
  { call }: Context,
  route: RouteName,
  query: Readonly<Record<string, string | number>>,
  params: Readonly<Record<string, string>> = {},
): Promise<unknown[]> => {
  const found: unknown[] = [];
  for (let cursor: string | undefined, pages = 0; pages < 200; pages++) {
    const { status, body } = await call(route, {
      params,
      query: { ...query, ...(cursor !== undefined && { cursor }) },
    });
    assert.equal(status, 200, JSON.stringify(body));
    const page = body as { data: unknown[]; meta: { page: { next?: string; limit: number } } };
    assert.equal(page.meta.page.limit, query["limit"]);
    assert.ok(page.data.length <= page.meta.page.limit);
    found.push(...page.data);
    cursor = page.meta.page.next;
    if (cursor === undefined) return found;
  }
  throw new Error(`${route} does not end`);
};
const limit = fc.constantFrom(1, 2, 100);

const runCreate = async ({ input, key }: CreateRequest, { tenant, now, call }: Context): Promise<void> => {
  const headers = key === undefined ? {} : { "idempotency-key": key };
  const response = await call("createWorkItem", { body: { work_item: input }, headers });
  compare(response, tenant.model.create(input, key, now));
};
const create = command(
  "create",
  fc.record({ input: itemInput, key: fc.option(fc.constantFrom("k1", "k2"), { nil: undefined, freq: 2 }) }),
  async (request, context) => {
    context.tenant.creates.push(request);
    await runCreate(request, context);
  },
);
const createAgain = command("create again", fc.nat(3), async (index, context) => {
  const request = context.tenant.creates.at(-1 - index);
  if (request !== undefined) await runCreate(request, context);
});

const batch = command(
  "batch",
  fc.record({ inputs: fc.array(itemInput, { minLength: 1, maxLength: 4 }), dryRun: fc.boolean() }),
  async ({ inputs, dryRun }, { tenant, now, call }) => {
    const response = await call("applyWorkItemBatch", { body: { work_items: inputs, dry_run: dryRun } });
    compare(response, tenant.model.batch(inputs, dryRun, now));
  },
);

/** One bad item refuses the whole call. */
const invalidBatch = command("invalid batch", itemInput, async (input, { call }) => {
  const body = { work_items: [input, { external_id: "x", status: "no status" }] };
  compare(await call("applyWorkItemBatch", { body }), { status: 422 });
});

const patch = command("patch", fc.record({ target, changes, precondition }), async (args, context) => {
  const id = idOf(args.target, context);
  const version = versionFor(args.precondition, id, context);
  const request = { params: { id }, body: { work_item: args.changes }, ...ifMatch(version) };
  const { tenant, now, call } = context;
  compare(await call("updateWorkItem", request), tenant.model.patch(id, args.changes, version, now));
});

const remove = command("delete", fc.record({ target, precondition }), async (args, context) => {
  const id = idOf(args.target, context);
  const version = versionFor(args.precondition, id, context);
  const { tenant, now, call } = context;
  compare(await call("deleteWorkItem", { params: { id }, ...ifMatch(version) }), tenant.model.remove(id, version, now));
});

const get = command("get", target, async (args, context) => {
  const id = idOf(args, context);
  compare(await context.call("getWorkItem", { params: { id } }), context.tenant.model.get(id));
});

const event = command("event", fc.record({ target, event: eventInput }), async (args, context) => {
  const id = idOf(args.target, context);
  const { tenant, now, call } = context;
  const response = await call("upsertWorkItemEvent", { params: { id }, body: { event: args.event } });
  compare(response, tenant.model.event(id, args.event, now));
});

const listEvents = command("list events", fc.record({ target, limit }), async (args, context) => {
  const id = idOf(args.target, context);
  const expected = context.tenant.model.get(id);
  if (expected.status !== 200) {
    compare(await context.call("listWorkItemEvents", { params: { id } }), expected);
    return;
  }
  const { events } = (expected.body as { data: { events: readonly { id: string }[] } }).data;
  const found = await walk(context, "listWorkItemEvents", { limit: args.limit }, { id });
  assert.deepEqual(
    found,
    events.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  );
});

const list = command("list", fc.record({ filters, limit }), async (args, context) => {
  const found = await walk(context, "listWorkItems", { limit: args.limit, ...args.filters });
  assert.deepEqual(found, context.tenant.model.list(args.filters));
});

const score = command(
  "score",
  fc.record({ externalId, score: fc.constantFrom(0, 0.5, 1, null) }),
  async (args, { tenant, service, now }) => {
    const isRecorded = await service.recordQaScore(tenant.caller, args.externalId, args.score);
    assert.equal(isRecorded, tenant.model.recordQaScore(args.externalId, args.score, now));
  },
);

const upload = command("upload", fc.array(row, { minLength: 1, maxLength: 6 }), async (rows, { tenant, now, call }) => {
  const form = new FormData();
  form.append("upload[file]", new Blob([toCsv(rows)], { type: "text/csv" }), "items.csv");
  const request = new Request("http://localhost", { method: "POST", body: form });
  const response = await call("uploadWorkItems", {
    headers: { "content-type": request.headers.get("content-type") ?? "" },
    body: Buffer.from(await request.arrayBuffer()),
  });
  const { id } = (response.body as { data: { id: string } }).data;
  compareJob(response, tenant.model.upload(id, now));
  tenant.jobs.push({ id, rows });
});
/** Compares what the model says of a job; files have more properties than the model knows. */
const compareJob = (response: ProofResponse, expected: Expected): void => {
  const data = (value: unknown): unknown => (value as { readonly data?: unknown }).data;
  const isJob = expected.body !== undefined && response.status === expected.status;
  const body = isJob ? { data: likeModel(data(response.body), data(expected.body)) } : response.body;
  compare({ ...response, body }, expected);
};

/** A command on one of the organization's jobs, if there is one. */
const onJob = (name: string, run: Run<{ readonly id: string; readonly rows: readonly ModelRow[] }>) =>
  command(name, fc.nat(5), async (index, context) => {
    const { jobs } = context.tenant;
    const job = jobs[index % jobs.length];
    if (job !== undefined) await run(job, context);
  });

const processJob = onJob("process", async ({ id, rows }, { tenant, service, now, call }) => {
  await service.process({ organization: tenant.model.id, id });
  tenant.model.process(id, rows, now);
  compareJob(await call("getWorkItemUpload", { params: { id } }), tenant.model.getJob(id));
});
const cancel = onJob("cancel", async ({ id }, { tenant, now, call }) => {
  compareJob(await call("cancelWorkItemUpload", { params: { id } }), tenant.model.cancel(id, now));
});
/** A job of another organization is not there. */
const foreignJob = onJob("foreign job", async ({ id }, { tenant, tenants, service }) => {
  const other = tenants[(tenants.indexOf(tenant) + 1) % tenants.length]!;
  for (const route of ["getWorkItemUpload", "cancelWorkItemUpload", "getWorkItemUploadFailedRows"] as const) {
    compare(await service.call(route, other.caller, { params: { id } }), { status: 404 });
  }
});
const listJobs = command(
  "list jobs",
  fc.record({ limit, status: fc.constantFrom("pending", "completed", "cancelled", undefined) }),
  async (args, context) => {
    const query = { limit: args.limit, ...(args.status !== undefined && { status: args.status }) };
    const expected = context.tenant.model.listJobs(args.status);
    const found = await walk(context, "listWorkItemUploads", query);
    assert.deepEqual(
      found.map((each, index) => likeModel(each, expected[index])),
      expected,
    );
  },
);

const recordConversation = command(
  "record conversation",
  fc.record({ externalId, status: fc.constantFrom("pending", "completed"), source: fc.constantFrom("phone", "chat") }),
  async ({ externalId: external_id, status, source }, { tenant, service, now }) => {
    await service.recordConversation(tenant.caller, { external_id, status, source });
    tenant.model.recordConversation(external_id, status, source, now);
  },
);
const getConversation = command("get conversation", externalId, async (name, { tenant, call }) => {
  const id = conversationUploadId(tenant.model.id, name);
  compare(await call("getConversationUpload", { params: { id } }), tenant.model.conversation(id));
});
const listConversations = command(
  "list conversations",
  fc.record({ limit, externalId: fc.option(externalId, { nil: undefined }) }),
  async (args, context) => {
    const query = { limit: args.limit, ...(args.externalId !== undefined && { external_id: args.externalId }) };
    const found = await walk(context, "listConversationUploads", query);
    assert.deepEqual(found, context.tenant.model.listConversations(args.externalId));
  },
);

const weighted = (weight: number, ...commands: fc.Arbitrary<Command>[]): fc.Arbitrary<Command>[] =>
  commands.flatMap((each) => Array.from({ length: weight }, () => each));

/** All commands. Those that change items come more often than those that only look. */
export const allCommands: fc.Arbitrary<Command>[] = [
  ...weighted(3, create, batch, patch, remove, event),
  ...weighted(2, createAgain, list, get, upload, processJob),
  ...weighted(1, invalidBatch, listEvents, score, cancel, foreignJob, listJobs),
  ...weighted(1, recordConversation, getConversation, listConversations),
];
