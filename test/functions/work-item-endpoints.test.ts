import { beforeAll, describe, expect, it } from "vitest";
import { create as createQaScoreRecorder } from "../../functions/record-qa-score.ts";
import { createShow, initialFields } from "../../lib/work-items/field-definition.ts";
import { WORK_ITEM_FIELDS } from "../../lib/work-items/work-item-fields.ts";
import { createTestService } from "../support/service.ts";

let service: Awaited<ReturnType<typeof createTestService>>;
beforeAll(async () => {
  service = await createTestService();
});
const call: typeof service.call = (name, request) => service.call(name, request);

let counter = 0;
const fresh = (): string => `item-${counter++}`;
const create = async (fields: object = {}) => {
  const response = await call("createWorkItem", { body: { work_item: { external_id: fresh(), ...fields } } });
  expect(response.status, response.text).toBe(201);
  return response.body.data;
};
const idOf = ({ id }: { readonly id: string }): string => id;
const UNKNOWN_ID = "00000000-0000-8000-8000-000000000000";

describe("create a work item", () => {
  it("responds with 201, every key of the item, its events and an ETag", async () => {
    const external_id = fresh();
    const work_item = {
      external_id,
      agent_email: "ann@example.com",
      agent_name: "Ann",
      completed_at: "2026-03-01T01:30:00.123456+02:00",
      custom_attributes: { short_description: "short", description: 7 },
      events: [{ external_id: "E1", actor_name: "Bob", content: "opened" }],
    };
    const { status, body, headers } = await call("createWorkItem", { body: { work_item } });
    expect(status).toBe(201);
    expect(headers["etag"]).toMatch(/^"1-[0-9a-f]{16}"$/);
    const agent = { id: null, name: "Ann", email: "ann@example.com", external_id: null, avatar_url: null };
    expect(body).toEqual({
      data: {
        ...createShow(WORK_ITEM_FIELDS)(initialFields(WORK_ITEM_FIELDS)),
        id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        external_id,
        agent,
        agents: [agent],
        type: "work_item",
        status: "completed",
        short_description: "short",
        description: null,
        completed_at: "2026-02-28T23:30:00.123Z",
        custom_attributes: { short_description: "short", description: 7 },
        created_at: expect.stringMatching(/Z$/) as string,
        updated_at: expect.stringMatching(/Z$/) as string,
        qa_score: null,
        events: [
          {
            id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
            external_id: "E1",
            actor: { id: null, name: "Bob", email: null, external_id: null, avatar_url: null },
            content: "opened",
            created_at: expect.stringMatching(/Z$/) as string,
          },
        ],
      },
    });
  });

  it("rejects an external_id that exists with 409, also when it is deleted", async () => {
    const item = await create();
    const body = { work_item: { external_id: item.external_id } };
    expect((await call("createWorkItem", { body })).status).toBe(409);
    await call("deleteWorkItem", { params: { id: idOf(item) } });
    const response = await call("createWorkItem", { body });
    expect(response.status).toBe(409);
    expect(response.text).toContain("batch");
  });

  it("leaves nothing of a create that loses, its events included", async () => {
    const item = await create();
    await call("createWorkItem", {
      body: { work_item: { external_id: item.external_id, events: [{ external_id: "X" }] } },
    });
    expect((await call("getWorkItem", { params: { id: idOf(item) } })).body.data.events).toEqual([]);
  });

  it("returns the current item for the same Idempotency-Key, 422 for another body, 409 for another key", async () => {
    const work_item = { external_id: fresh(), type: "call" };
    const headers = { "Idempotency-Key": "key-1" };
    const first = await call("createWorkItem", { body: { work_item }, headers });
    const again = await call("createWorkItem", { body: { work_item }, headers });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    const other = { ...work_item, type: "chat" };
    expect((await call("createWorkItem", { body: { work_item: other }, headers })).status).toBe(422);
    expect(
      (await call("createWorkItem", { body: { work_item }, headers: { "Idempotency-Key": "key-2" } })).status,
    ).toBe(409);
  });

  it("takes the same content in another order for the same, at any depth, but not an array or a number", async () => {
    const external_id = fresh();
    const createFrom = async (text: string) => {
      const body = `{"work_item":{"custom_attributes":${text},"external_id":"${external_id}"}}`;
      return (await call("createWorkItem", { body, headers: { "Idempotency-Key": "order" } })).status;
    };
    const first = '{"a":1.0,"b":{"c":[1,{"d":2,"e":3}],"constructor":4}}';
    expect(await createFrom(first)).toBe(201);
    expect(await createFrom('{"b":{"constructor":4,"c":[1,{"e":3,"d":2}]},"a":1.0}')).toBe(201);
    expect(await createFrom(first.replace("1.0", "1"))).toBe(422);
    expect(await createFrom(first.replace('[1,{"d":2,"e":3}]', '[{"d":2,"e":3},1]'))).toBe(422);
  });

  it("takes 99 events in one transaction and rejects the hundredth", async () => {
    const events = Array.from({ length: 99 }, (_, index) => ({ external_id: `E${index}` }));
    const item = await create({ events });
    expect(item.events).toHaveLength(99);
    const response = await call("createWorkItem", {
      body: { work_item: { external_id: fresh(), events: [...events, { external_id: "one more" }] } },
    });
    expect(response.status).toBe(422);
    expect(response.text).toContain("work_item.events");
  });
});

it("takes the last of the values that a body has under one name", async () => {
  const external_id = fresh();
  // A number with more digits than a double has is parsed in another way.
  for (const number of ["1", "1.0"]) {
    const body = `{"work_items":[],"work_items":[{"external_id":"x","external_id":"${external_id}","custom_attributes":{"a":2,"a":${number}}}]}`;
    const { data } = (await call("applyWorkItemBatch", { body })).body;
    expect(JSON.stringify(data.results[0]?.data?.custom_attributes)).toBe(`{"a":${number}}`);
  }
});

it("takes a date-time as RFC 3339 has it in bodies, filters and since", async () => {
  const type = fresh();
  const item = await create({
    type,
    completed_at: "2016-12-31t23:59:60z",
    events: [{ external_id: "e", occurred_at: "2017-01-01T08:59:60+09:00" }],
  });
  expect([item.completed_at, item.events[0]?.occurred_at]).toEqual(Array(2).fill("2017-01-01T00:00:00.000Z"));
  for (const [from, to, count] of [
    ["2016-12-31T23:59:60Z", "2017-01-01t00:00:01z", 1],
    ["2016-12-31T23:59:59Z", "2016-12-31t23:59:60z", 0],
  ] as const) {
    const { body } = await call("listWorkItems", { query: { type, completed_from: from, completed_to: to } });
    expect(body.data).toHaveLength(count);
  }
  expect((await call("listWorkItemChanges", { query: { since: "2016-12-31t23:59:60z", limit: 1 } })).status).toBe(200);
});

describe("get a work item", () => {
  it("sorts events by occurred_at, then created_at, those without a time last", async () => {
    const events = [
      { external_id: "none" },
      { external_id: "late", occurred_at: "2026-01-02T00:00:00Z" },
      { external_id: "early", occurred_at: "2026-01-01T00:00:00Z" },
    ];
    const item = await create({ events });
    const { body } = await call("getWorkItem", { params: { id: idOf(item) } });
    expect(body.data.events.map((event) => event.external_id)).toEqual(["early", "late", "none"]);
  });

  it("shows the qa_score that the evaluation recorded", async () => {
    const item = await create();
    const record = createQaScoreRecorder(service.runtime);
    await record({ organization: service.organization.id, external_id: item.external_id, qa_score: 0.85 });
    // A call that slept until its time was over writes nothing.
    const late = { organization: service.organization.id, external_id: item.external_id, qa_score: 0 };
    await expect(record(late, { getRemainingTimeInMillis: () => -1 })).rejects.toThrow("time ran out");
    expect((await call("getWorkItem", { params: { id: idOf(item) } })).body.data.qa_score).toBe(0.85);
    await expect(record({ organization: service.organization.id, external_id: "nobody", qa_score: 1 })).rejects.toThrow(
      "not found",
    );
    await expect(record({ organization: service.organization.id, external_id: "x", qa_score: 1.1 })).rejects.toThrow(
      "qa_score",
    );
  });
});

describe("update a work item", () => {
  it("keeps omitted fields, merges attributes, follows completed_at, and returns the item with its events", async () => {
    const item = await create({ agent_name: "Ann", custom_attributes: { a: 1 }, events: [{ external_id: "E" }] });
    const changed = { type: "call", completed_at: "2026-01-01T00:00:00Z", custom_attributes: { b: null } };
    const { status, body, headers } = await call("updateWorkItem", {
      params: { id: idOf(item) },
      body: { work_item: changed },
    });
    expect(status).toBe(200);
    expect(headers["etag"]).toMatch(/^"2-/);
    expect((await call("getWorkItem", { params: { id: idOf(item) } })).headers["etag"]).toBe(headers["etag"]);
    expect(body.data).toEqual({
      ...(item as object),
      type: "call",
      status: "completed",
      completed_at: "2026-01-01T00:00:00.000Z",
      custom_attributes: { a: 1, b: null },
      updated_at: body.data.updated_at,
    });
  });
  it("changes neither updated_at nor the ETag if nothing differs", async () => {
    const item = await create({ type: "call" });
    const before = await call("getWorkItem", { params: { id: idOf(item) } });
    const { body, headers } = await call("updateWorkItem", {
      params: { id: idOf(item) },
      body: { work_item: { type: "call" } },
    });
    expect(body.data).toEqual(item);
    expect(headers["etag"]).toBe(before.headers["etag"]);
  });
  it("rejects another external_id and events with 422, and takes its own external_id", async () => {
    const item = await create();
    const params = { id: idOf(item) };
    const patch = (work_item: object) => call("updateWorkItem", { params, body: { work_item } });
    expect((await patch({ external_id: "other" })).status).toBe(422);
    expect((await patch({ events: [] })).text).toContain("work_item.events");
    expect((await patch({ external_id: item.external_id })).status).toBe(200);
  });
  it("removes attributes by name, by PATCH and by a batch", async () => {
    const item = await create({ custom_attributes: { a: 1, b: null, c: 3 } });
    const params = { id: idOf(item) };
    const patched = await call("updateWorkItem", {
      params,
      body: { work_item: { custom_attributes: { d: 4 }, remove_attributes: ["a", "never"] } },
    });
    expect(patched.body.data.custom_attributes).toEqual({ b: null, c: 3, d: 4 });
    const batch = () =>
      call("applyWorkItemBatch", {
        body: { work_items: [{ external_id: item.external_id, remove_attributes: ["b", "c"] }] },
      });
    expect((await batch()).body.data.results).toMatchObject([
      { status: "updated", data: { custom_attributes: { d: 4 } } },
    ]);
    expect((await batch()).body.data.results).toMatchObject([{ status: "unchanged" }]);
    const wrong = await call("updateWorkItem", { params, body: { work_item: { remove_attributes: "d" } } });
    expect(wrong).toMatchObject({
      status: 422,
      body: { error: "work_item.remove_attributes: must be an array, not a string" },
    });
  });
  it("honours If-Match: 412 for another version, 200 for the stored one and for *", async () => {
    const params = { id: idOf(await create()) };
    const patch = (tag: string, type: string) =>
      call("updateWorkItem", { params, headers: { "If-Match": tag }, body: { work_item: { type } } });
    expect((await patch('"7"', "a")).status).toBe(412);
    expect((await patch('"1"', "b")).status).toBe(200);
    expect((await patch('"1"', "c")).status).toBe(412);
    expect((await patch("*", "d")).status).toBe(200);
  });
  it("rejects what is too large only after the merge with 422 and changes nothing", async () => {
    const item = await create({ custom_attributes: { a: "x".repeat(200_000) } });
    const params = { id: idOf(item) };
    const { status, text } = await call("updateWorkItem", {
      params,
      body: { work_item: { custom_attributes: { b: "x".repeat(200_000) } } },
    });
    expect([status, text.includes("after the merge")]).toEqual([422, true]);
    expect((await call("getWorkItem", { params })).body.data).toEqual(item);
  });
});

describe("delete a work item", () => {
  it("is idempotent, hides the item everywhere, and a batch brings it back under the same id with its attributes", async () => {
    const item = await create({ custom_attributes: { a: 1 }, events: [{ external_id: "E" }] });
    const params = { id: idOf(item) };
    const deleted = { data: { id: params.id, deleted: true } };
    expect((await call("deleteWorkItem", { params })).body).toEqual(deleted);
    expect((await call("deleteWorkItem", { params, headers: { "If-Match": '"1"' } })).body).toEqual(deleted);
    expect((await call("getWorkItem", { params })).status).toBe(404);
    expect((await call("listWorkItemEvents", { params })).status).toBe(404);
    expect((await call("updateWorkItem", { params, body: { work_item: {} } })).status).toBe(404);
    expect((await call("upsertWorkItemEvent", { params, body: { event: { external_id: "E2" } } })).status).toBe(404);
    const { body } = await call("applyWorkItemBatch", { body: { work_items: [{ external_id: item.external_id }] } });
    expect(body.data.results[0]).toMatchObject({
      status: "restored",
      data: { id: params.id, custom_attributes: { a: 1 } },
    });
    expect((await call("getWorkItem", { params })).body.data.events).toHaveLength(1);
  });
  it("responds with 404 to an id that never existed and with 412 to another version", async () => {
    expect((await call("deleteWorkItem", { params: { id: UNKNOWN_ID } })).status).toBe(404);
    const params = { id: idOf(await create()) };
    expect((await call("deleteWorkItem", { params, headers: { "If-Match": '"9"' } })).status).toBe(412);
  });
});

describe("delete an event", () => {
  it("shows it with deleted_at until it is sent again, and has no effect when it is repeated", async () => {
    const item = await create({ events: [{ external_id: "e", content: "said" }, { external_id: "stays" }] });
    const params = { id: idOf(item) };
    const event_id = item.events.find((event) => event.external_id === "e")?.id ?? "";
    const remove = () => call("deleteWorkItemEvent", { params: { ...params, event_id } });
    expect(await remove()).toMatchObject({ status: 200, body: { data: { id: event_id, deleted: true } } });
    const after = await call("getWorkItem", { params });
    expect(after.body.data.events.find(({ id }) => id === event_id)).toMatchObject({
      content: "said",
      deleted_at: expect.stringMatching(/Z$/),
    });
    expect(after.body.data.events.find(({ id }) => id !== event_id)).not.toHaveProperty("deleted_at");
    expect(after.body.data.updated_at).toBe(item.updated_at);
    expect((await remove()).status).toBe(200);
    expect((await call("getWorkItem", { params })).text).toBe(after.text);

    const again = await call("upsertWorkItemEvent", { params, body: { event: { external_id: "e" } } });
    expect(again).toMatchObject({ status: 200, body: { data: { id: event_id, content: "said" } } });
    expect(again.body.data).not.toHaveProperty("deleted_at");
  });

  it("responds with 404 to an event that never was, to what isn't an id and to a deleted item", async () => {
    const item = await create({ events: [{ external_id: "e" }] });
    const remove = (event_id: string) => call("deleteWorkItemEvent", { params: { id: idOf(item), event_id } });
    expect(await remove(UNKNOWN_ID)).toMatchObject({ status: 404, body: { error: "work item event not found" } });
    expect(await remove("e")).toMatchObject({ status: 404, body: { error: "not found: an id is a UUID" } });
    await call("deleteWorkItem", { params: { id: idOf(item) } });
    expect((await remove(item.events[0]?.id ?? "")).status).toBe(404);
  });
});

describe("create or update an event", () => {
  it("responds with 201 when created and 200 when updated or unchanged, and keeps omitted fields", async () => {
    const item = await create();
    const params = { id: idOf(item) };
    const external_id = "é".repeat(512);
    const send = (event: object) => call("upsertWorkItemEvent", { params, body: { event: { external_id, ...event } } });
    const before = await call("getWorkItem", { params });
    const created = await send({ content: "opened", actor_name: "Ann" });
    const updated = await send({ content: null });
    const after = await call("getWorkItem", { params });
    const unchanged = await send({});
    expect([created.status, updated.status, unchanged.status]).toEqual([201, 200, 200]);
    expect(created.body.data).toMatchObject({ external_id, content: "opened", actor: { name: "Ann" } });
    expect(updated.body.data).not.toHaveProperty("content");
    expect(unchanged.body).toEqual(updated.body);
    expect(after.body.data.updated_at).toBe(before.body.data.updated_at);
    expect((await call("getWorkItem", { params })).headers["etag"]).toBe(after.headers["etag"]);
  });
  it("makes a copy of the item stale, but doesn't prevent changes to the item", async () => {
    const params = { id: idOf(await create()) };
    const { etag = "" } = (await call("getWorkItem", { params })).headers;
    await call("upsertWorkItemEvent", { params, body: { event: { external_id: "E" } } });
    const again = await call("getWorkItem", { params, headers: { "If-None-Match": etag } });
    expect([again.status, again.body.data.events]).toMatchObject([200, [{ external_id: "E" }]]);
    const changed = { params, headers: { "If-Match": etag }, body: { work_item: { type: "call" } } };
    expect((await call("updateWorkItem", changed)).status).toBe(200);
    expect((await call("updateWorkItem", changed)).status).toBe(412);
  });
});

describe("unusual input is returned unchanged", () => {
  it.each([
    [
      "keys that name built-in things",
      '{"constructor":1,"toString":{"a":[]},"#a":null,"a.b":true,"a[0]":"x","":"empty"}',
    ],
    [
      "numbers digit for digit",
      '{"big":9007199254740993,"long":0.1000000000000000055511151231257827,"one":1.0,"exp":1E+2,"neg":-0}',
    ],
    ["emoji and control characters", JSON.stringify({ "👩‍🚀": "\u0001\u001f\u007f\u2028 \ud83d\ude00", lone: "\ud800" })],
    ["thirty levels", `{"a":${"[".repeat(30)}${"]".repeat(30)}}`],
  ])("%s", async (_, attributes) => {
    const external_id = fresh();
    const body = `{"work_item":{"external_id":"${external_id}","custom_attributes":${attributes}}}`;
    const created = await call("createWorkItem", { body });
    expect(created.status, created.text).toBe(201);
    const { text } = await call("getWorkItem", { params: { id: created.body.data.id } });
    expect(text).toContain(`"custom_attributes":${attributes}`);
    const batch = await call("applyWorkItemBatch", {
      body: `{"work_items":[{"external_id":"${external_id}","custom_attributes":${attributes}}]}`,
    });
    expect(batch.body.data.results[0]!.status).toBe("unchanged");
  });
  it.each([["a/b#c%d e"], ["漢".repeat(512)], ["👍".repeat(512)], [" "]])("the external_id %s", async (external_id) => {
    const item = await create({ external_id });
    expect(item.external_id).toBe(external_id);
    const { body } = await call("listWorkItems", { query: { external_id } });
    expect(body.data).toHaveLength(1);
  });
});

it.each([
  ["external_id", "must be a string, not a number"],
  ["events", "must be an array, not a number"],
])("names a number of many digits as %s as what it is", async (field, problem) => {
  for (const number of ["12345678901234567890", "1.0"]) {
    const response = await call("createWorkItem", { body: `{"work_item":{"external_id":"a","${field}":${number}}}` });
    expect([response.status, response.body]).toEqual([422, { error: `work_item.${field}: ${problem}` }]);
    const inPlace = await call("createWorkItem", { body: `{"work_item":${number}}` });
    expect(inPlace.body).toEqual({ error: "work_item: must be an object, not a number" });
  }
});

it.each([
  ["type", "[]", "must be a string, not an array"],
  ["events", '{"length":1000}', "must be an array, not an object"],
  ["agent_email", `"${"x".repeat(400)}"`, "must be an email address"],
])("names the invalid %s %s once", async (field, value, problem) => {
  const { status, body } = await call("createWorkItem", {
    body: `{"work_item":{"external_id":"a","${field}":${value}}}`,
  });
  expect([status, body]).toEqual([422, { error: `work_item.${field}: ${problem}` }]);
});
