import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ApiError,
  createClient,
  inputOf,
  OutcomeUnknownError,
  type WorkItemInput,
} from "../../../apps/client/client.ts";
import { startTestService, type TestService } from "../../support/local-service.ts";

let stack: TestService;
let options: { readonly baseUrl: string; readonly apiKey: string };
beforeAll(async () => {
  stack = await startTestService();
  options = { baseUrl: stack.baseUrl, apiKey: stack.apiKey };
});
afterAll(() => stack?.stop());

const collect = async <T>(entries: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
};
const itemsOf = (kind: string, count: number): WorkItemInput[] =>
  Array.from({ length: count }, (_, index) => ({ external_id: `${kind}-${index}`, type: kind }));

/** Sends requests, and records them. The first ones get other outcomes: a status, or a broken connection. */
const faultyFetch = (...outcomes: (number | "sent and lost" | "broken" | "refused")[]) => {
  const sent: Request[] = [];
  const fetchIt: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    sent.push(request.clone());
    const outcome = outcomes.shift();
    if (outcome === "broken") throw new TypeError("fetch failed");
    if (outcome === "refused") throw new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } });
    if (typeof outcome === "number") return new Response("{}", { status: outcome, headers: { "retry-after": "0" } });
    const response = await fetch(request);
    if (outcome !== "sent and lost") return response;
    await response.body?.cancel();
    throw new TypeError("fetch failed");
  };
  return { sent, fetch: fetchIt };
};

describe("apply", () => {
  it("cuts any number of items into calls, and yields their results in order", async () => {
    const { sent, fetch } = faultyFetch();
    const items = itemsOf("cut", 250);
    const results = await collect(createClient({ ...options, fetch }).workItems.apply(items));
    expect(results.map(({ index, external_id: id, status }) => [index, id, status])).toEqual(
      items.map(({ external_id: id }, index) => [index, id, "created"]),
    );
    expect(sent).toHaveLength(3);
  });

  it("lets the later of two items with one external_id win, also in calls at the same time", async () => {
    const items = [
      { external_id: "twice", type: "first" },
      ...itemsOf("between", 120),
      { external_id: "twice", type: "last" },
    ];
    const results = await collect(createClient(options).workItems.apply(items, { concurrency: 8 }));
    expect(results.at(-1)).toMatchObject({ status: "updated", data: { type: "last" } });
  });

  it("cuts by events and by bytes too", async () => {
    const { sent, fetch } = faultyFetch();
    const events = Array.from({ length: 90 }, (_, index) => ({ external_id: `e-${index}` }));
    const large = { text: "x".repeat(200_000) };
    const items = [
      ...itemsOf("eventful", 30).map((item) => ({ ...item, events })),
      ...itemsOf("large", 20).map((item) => ({ ...item, custom_attributes: large })),
    ];
    const results = await collect(createClient({ ...options, fetch }).workItems.apply(items, { dryRun: true }));
    expect(results.map(({ status }) => status)).toEqual(items.map(() => "created"));
    expect(sent.length).toBeGreaterThanOrEqual(3);
  });

  it("reports an item that isn't valid in its place, if it may skip it", async () => {
    const items = [...itemsOf("skip", 100), { external_id: "bad", agent_email: "nobody" }];
    const results = await collect(createClient(options).workItems.apply(items, { onInvalid: "skip" }));
    expect(results.at(-1)).toMatchObject({ index: 100, external_id: "bad", status: "error" });
    expect(results.at(-1)?.errors).toMatchObject([{ pointer: "/work_items/100/agent_email" }]);
  });

  it("ends with an error that names items that aren't valid, and their position among all", async () => {
    const bad = { external_id: "bad", agent_email: "nobody" };
    const items = [...itemsOf("refused", 101), bad, { agent_email: "nobody" } as unknown as WorkItemInput];
    const error = await collect(createClient(options).workItems.apply(items)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    const { status, message, problems } = error as ApiError;
    expect([status, message]).toEqual([
      422,
      "bad (work_items[101]).agent_email: must be an email address; work_items[102].external_id: is required; " +
        "work_items[102].agent_email: must be an email address",
    ]);
    expect(problems.map(({ pointer }) => pointer)).toEqual([
      "/work_items/101/agent_email",
      "/work_items/102/external_id",
      "/work_items/102/agent_email",
    ]);
  });
});

describe("items by their ids", () => {
  it("are found and deleted in any number, in calls of a hundred", async () => {
    const { sent, fetch } = faultyFetch();
    const { workItems } = createClient({ ...options, fetch });
    const externalIds = itemsOf("named", 120).map(({ external_id: id }) => id);
    await collect(workItems.apply(itemsOf("named", 120)));
    const calls = sent.length;
    const found = await collect(workItems.getMany({ externalIds: [...externalIds, "never"] }));
    expect(sent.length - calls).toBe(2);
    expect(found.map(({ index, status, data }) => [index, status, data?.external_id])).toEqual([
      ...externalIds.map((id, index) => [index, "found", id]),
      [120, "not_found", undefined],
    ]);
    const ids = found.flatMap(({ data }) => data?.id ?? []);
    const dry = await collect(workItems.deleteMany({ ids }, { dryRun: true }));
    const deleted = await collect(workItems.deleteMany({ ids }));
    expect(deleted).toEqual(dry);
    expect(deleted.map(({ external_id: id, status }) => [id, status])).toEqual(
      externalIds.map((id) => [id, "deleted"]),
    );
    const now = await collect(workItems.getMany({ externalIds }));
    expect(new Set(now.map(({ status }) => status))).toEqual(new Set(["deleted"]));
  });

  it("are asked for again if they don't fit in one response", async () => {
    const { workItems } = createClient(options);
    const custom_attributes = { text: "x".repeat(250_000) };
    const items = itemsOf("large to find", 30).map((item) => ({ ...item, custom_attributes }));
    await collect(workItems.apply(items));
    const found = await collect(workItems.getMany({ externalIds: items.map(({ external_id: id }) => id) }));
    expect(found.map(({ index, data }) => [index, data?.external_id])).toEqual(
      items.map(({ external_id: id }, index) => [index, id]),
    );
  });
});

it("isn't created without an address or a key, which would fail only later", () => {
  const missing = { baseUrl: "", apiKey: undefined as unknown as string };
  expect(() => createClient({ ...options, baseUrl: missing.baseUrl })).toThrow(new TypeError("baseUrl is missing"));
  expect(() => createClient({ ...options, apiKey: missing.apiKey })).toThrow(new TypeError("apiKey is missing"));
});

it("says whose key it is", async () => {
  expect(await createClient(options).me()).toMatchObject({
    region: "us",
    key: { scopes: ["read", "write", "upload", "webhooks"] },
  });
});

describe("a request", () => {
  it("is sent again after 429, 503 and a broken connection", async () => {
    const { sent, fetch } = faultyFetch(429, 503, "broken");
    const [result] = await collect(createClient({ ...options, fetch }).workItems.apply([{ external_id: "again" }]));
    expect(result?.status).toBe("created");
    expect(sent).toHaveLength(4);
  });

  it("that adds a webhook is sent again with the same Idempotency-Key, so that a lost response adds no second one", async () => {
    const { sent, fetch } = faultyFetch("sent and lost");
    const { id, secret } = await createClient({ ...options, fetch }).webhooks.create({
      url: "https://example.com/lost",
    });
    expect(sent).toHaveLength(2);
    expect(secret).toMatch(/^whsec_/);
    const all = await createClient(options).webhooks.list();
    expect(all.filter(({ url }) => url === "https://example.com/lost").map((each) => each.id)).toEqual([id]);
  });

  it("that creates is sent again with the same Idempotency-Key, so that a lost response makes no conflict", async () => {
    const { sent, fetch } = faultyFetch("sent and lost");
    const item = await createClient({ ...options, fetch }).workItems.create({ external_id: "lost" });
    expect(item.external_id).toBe("lost");
    const keys = sent.map(({ headers }) => headers.get("idempotency-key"));
    expect(keys).toEqual([expect.stringMatching(/./), keys[0]]);
    await expect(createClient(options).workItems.create({ external_id: "lost" })).rejects.toMatchObject({
      status: 409,
      problems: [{ pointer: "/work_item/external_id", code: "taken" }],
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it("is sent again once the time in Retry-After has passed, in seconds or at a date", async () => {
    // A date is made with its response, since a busy machine may take seconds until then.
    for (const [after, least, most] of [
      [() => "7", 7000, 7300],
      [() => new Date(Date.now() + 30_000).toUTCString(), 28_000, 30_300],
    ] as const) {
      const waits: number[] = [];
      const client = createClient({
        ...options,
        fetch: async () =>
          waits.length === 0
            ? new Response("{}", { status: 503, headers: { "retry-after": after() } })
            : Response.json({ data: {} }),
        wait: async (milliseconds) => void waits.push(milliseconds),
      });
      await client.me();
      const [waited = -1] = waits;
      expect([waits.length, waited >= least, waited <= most]).toEqual([1, true, true]);
    }
  });

  describe("that can't be repeated safely", () => {
    type Client = ReturnType<typeof createClient>;
    const form = () => {
      const fields = new FormData();
      fields.set("upload[dry_run]", "True");
      fields.set("upload[file]", new Blob(["external_id\nT-1\n"]), "f.csv");
      return fields;
    };
    const prepare = async () => {
      const { workItems, uploads, webhooks } = createClient(options);
      const item = await workItems.create({ external_id: crypto.randomUUID() });
      const { etag } = await workItems.get(item.id);
      const upload = await uploads.upload(`external_id\n${item.external_id}\n`);
      await upload.wait();
      const webhook = await webhooks.create({ url: "https://example.com/repeated" });
      return { id: item.id, etag, upload: upload.id, webhook: webhook.id };
    };
    const calls: Record<string, (client: Client, made: Awaited<ReturnType<typeof prepare>>) => Promise<unknown>> = {
      "a change with If-Match": ({ workItems }, { id, etag }) => workItems.update(id, { type: "x" }, { ifMatch: etag }),
      "a deletion with If-Match": ({ http }, { id, etag }) =>
        http.DELETE("/v1/work_items/{id}", { params: { path: { id }, header: { "If-Match": etag } } }),
      "a rotation": ({ webhooks }, { webhook }) => webhooks.rotateSecret(webhook),
      "a test of a webhook": ({ webhooks }, { webhook }) => webhooks.test(webhook),
      "the trial of an undo": ({ uploads }, { upload }) => uploads.undo(upload, { dryRun: true }),
      "the trial of an upload": ({ uploads }) => uploads.upload("external_id\nT-1\n", { dryRun: true }),
      "the trial of an upload, by a form": ({ http }) =>
        http.POST("/v1/work_items/upload", {
          params: { header: { "Idempotency-Key": crypto.randomUUID() } },
          body: {} as never,
          bodySerializer: form,
        }),
      "the trial of a large upload": ({ http }) =>
        http.POST("/v1/work_items/upload", { body: { upload: { filename: "f", size: 9, dry_run: true } } }),
      "a create without an Idempotency-Key": ({ http }) =>
        http.POST("/v1/work_items", { body: { work_item: { external_id: crypto.randomUUID() } } }),
    };

    it.each(Object.entries(calls))("is sent once and says how to find out: %s", async (_, send) => {
      const made = await prepare();
      for (const outcome of ["sent and lost", 503] as const) {
        const { sent, fetch } = faultyFetch(outcome);
        const error: unknown = await send(createClient({ ...options, fetch }), made).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(OutcomeUnknownError);
        expect((error as Error).message).toMatch(/ may have been carried out: .*\. [A-Z]/);
        expect(sent).toHaveLength(1);
      }
    });

    it("is sent again after a 429, and where no connection was made", async () => {
      const { id, etag } = await prepare();
      const { sent, fetch } = faultyFetch(429, "refused");
      const changed = await createClient({ ...options, fetch }).workItems.update(id, { type: "y" }, { ifMatch: etag });
      expect([changed.type, sent.length]).toEqual(["y", 3]);
    });

    it("is told from what can: an undo, an event, a change without If-Match", async () => {
      const { id, upload } = await prepare();
      for (const send of [
        ({ uploads }: Client) => uploads.undo(upload),
        ({ workItems }: Client) => workItems.upsertEvent(id, { external_id: "e" }),
        ({ workItems }: Client) => workItems.update(id, { type: "z" }),
      ]) {
        const { sent, fetch } = faultyFetch("sent and lost");
        await send(createClient({ ...options, fetch }));
        expect(sent).toHaveLength(2);
      }
    });
  });

  it("is given up after the given time", async () => {
    const { sent, fetch } = faultyFetch(...Array.from({ length: 1000 }, () => 503));
    const waits: number[] = [];
    const wait = async (milliseconds: number): Promise<void> => void waits.push(milliseconds);
    const client = createClient({ ...options, fetch, retrySeconds: 100, wait });
    await expect(client.workItems.get("x")).rejects.toMatchObject({ status: 503 });
    const seconds = waits.reduce((sum, each) => sum + each, 0) / 1000;
    expect(seconds).toBeGreaterThan(90);
    expect(seconds).toBeLessThanOrEqual(100);
    expect(sent).toHaveLength(waits.length + 1);
  });

  it("doesn't wait for a Retry-After that is later", async () => {
    const { sent, fetch } = faultyFetch(503);
    const later: typeof fetch = async (...request) => {
      const { status, body } = await fetch(...request);
      return new Response(body, { status, headers: { "retry-after": "61" } });
    };
    await expect(createClient({ ...options, fetch: later }).workItems.get("x")).rejects.toMatchObject({ status: 503 });
    expect(sent).toHaveLength(1);
  });

  it("ends with the reason of its signal, also while it waits", async () => {
    const controller = new AbortController();
    const fetchIt: typeof fetch = async () => {
      queueMicrotask(() => controller.abort(new Error("enough")));
      return new Response("{}", { status: 503, headers: { "retry-after": "3600" } });
    };
    const client = createClient({ ...options, fetch: fetchIt, retrySeconds: Infinity });
    await expect(client.workItems.get("x", { signal: controller.signal })).rejects.toThrow("enough");
  });
});

describe("work items", () => {
  it("are read page after page", async () => {
    const { sent, fetch } = faultyFetch();
    const client = createClient({ ...options, fetch });
    await collect(client.workItems.apply(itemsOf("page", 25)));
    const listed = await collect(client.workItems.list({ type: "page", limit: 10 }));
    expect(new Set(listed.map((item) => item.external_id)).size).toBe(25);
    expect(sent.filter(({ method }) => method === "GET").length).toBeGreaterThanOrEqual(3);
  });

  it("are changed by what was read, unless somebody else was first", async () => {
    const client = createClient(options);
    const created = await client.workItems.create({
      external_id: "change",
      agent_email: "ann@example.com",
      custom_attributes: { a: 1 },
      events: [{ external_id: "e" }],
    });
    const input = inputOf(created);
    const [result] = await collect(client.workItems.apply([input]));
    expect(result?.status).toBe("unchanged");
    const { etag, id } = await client.workItems.get(created.id);
    const changed = await client.workItems.update(id, { ...input, agent_email: null }, { ifMatch: etag });
    expect(changed).toMatchObject({ agent: { email: null }, custom_attributes: { a: 1 } });
    await expect(client.workItems.update(id, { type: "b" }, { ifMatch: etag })).rejects.toMatchObject({ status: 412 });
    await client.workItems.upsertEvent(id, { external_id: "f" });
    expect(await collect(client.workItems.events(id))).toHaveLength(2);
    await client.workItems.delete(id);
    await expect(client.workItems.get(id)).rejects.toMatchObject({ status: 404 });
  });
});

describe("an upload", () => {
  const rows = (count: number, filler = "") =>
    Array.from({ length: count }, (_, index) => `row-${index},"a ""b"", c${filler}"\n`).join("");

  it("of a small file is one request; its failed rows can be read", async () => {
    const { sent, fetch } = faultyFetch("sent and lost");
    const client = createClient({ ...options, fetch });
    const upload = await client.uploads.upload(
      `external_id,agent_email,custom_attributes.note\ngood,,x\n,,"two\nlines"\nbad,nobody,"a ""b"", c"\n`,
    );
    expect(sent.map(({ method, url }) => [method, new URL(url).pathname])).toEqual([
      ["POST", "/v1/work_items/upload"],
      ["POST", "/v1/work_items/upload"],
    ]);
    const seen: string[] = [];
    const job = await upload.wait({ onProgress: ({ status }) => seen.push(status) });
    expect(job).toMatchObject({ status: "completed", total_rows: 3, succeeded_rows: 1, failed_rows: 2 });
    expect(seen.at(-1)).toBe("completed");
    const failed = await collect(upload.failedRows());
    expect(Object.keys(failed[1]?.cells ?? {})).toEqual(["external_id", "agent_email", "custom_attributes.note"]);
    expect(failed).toMatchObject([
      { row: 3, cells: { "custom_attributes.note": "two\nlines" } },
      {
        row: 4,
        error: expect.stringContaining("agent_email"),
        code: "invalid_format",
        column: "agent_email",
        value: "nobody",
        cells: { "custom_attributes.note": 'a "b", c' },
      },
    ]);
    expect(await collect(upload.results())).toEqual([
      { row: 2, external_id: expect.any(String), id: expect.stringMatching(/^[0-9a-f-]{36}$/), outcome: "created" },
      { row: 3, external_id: expect.any(String), id: "", outcome: "error" },
      { row: 4, external_id: expect.any(String), id: "", outcome: "error" },
    ]);
    expect((await collect(client.uploads.list())).map(({ id }) => id)).toContain(upload.id);
  });

  it("of a large file goes by a presigned form, from a stream too", async () => {
    const { sent, fetch } = faultyFetch();
    const client = createClient({ ...options, fetch });
    const csv = `external_id,custom_attributes.note\n${rows(3000, "x".repeat(1500))}`;
    const stream = new Blob([csv]).stream();
    const upload = await client.uploads.upload(stream, { filename: "large.csv" });
    expect(sent.map(({ url }) => new URL(url).pathname)).not.toEqual(["/v1/work_items/upload"]);
    expect(upload.job.file_name).toBe("large.csv");
    expect(await upload.wait()).toMatchObject({ status: "completed", succeeded_rows: 3000, failed_rows: 0 });
    expect(await collect(upload.failedRows())).toEqual([]);
    expect((await collect(upload.results())).filter(({ outcome }) => outcome === "created")).toHaveLength(3000);
  });

  it("takes a mapping and runs dry, and the wait for it can be given up", async () => {
    const client = createClient(options);
    const upload = await client.uploads.upload("Ticket;State\nT-1;Done\n", {
      mapping: {
        fields: { external_id: { column: "Ticket" }, status: { column: "State", values: { Done: "completed" } } },
        delimiter: ";",
      },
      dryRun: true,
    });
    await expect(upload.wait({ signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
    expect(await upload.wait()).toMatchObject({ dry_run: true, status: "completed", created_rows: 1 });
    await expect(upload.cancel()).rejects.toMatchObject({ status: 409 });
  });
});
