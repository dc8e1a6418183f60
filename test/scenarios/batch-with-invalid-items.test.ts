import { beforeAll, describe, expect, it } from "vitest";
import { createTestService, type ResponseOf } from "../support/service.ts";

let service: Awaited<ReturnType<typeof createTestService>>;
beforeAll(async () => {
  service = await createTestService();
});

let counter = 0;
const fresh = (): string => `skip-${counter++}`;
const apply = (body: object, headers: Record<string, string> = {}) =>
  service.call("applyWorkItemBatch", { body, headers });
const resultsOf = ({ body }: ResponseOf<"applyWorkItemBatch">) => body.data.results;

describe("a batch that skips invalid items", () => {
  it("applies the others, and reports what is wrong with each that it skips, for people and for programs", async () => {
    const [a, b] = [fresh(), fresh()];
    const work_items = [
      { external_id: a },
      { external_id: "broken", agent_email: "nobody", "a/b~c": 1 },
      { agent_name: "" },
      "text",
      { external_id: b },
    ];
    const response = await apply({ work_items, on_invalid: "skip" });
    expect(response.status, response.text).toBe(200);
    expect(response.body.data.summary).toMatchObject({ total: 5, created: 2, error: 3 });
    const results = resultsOf(response);
    expect(results.map(({ index, external_id, status }) => [index, external_id, status])).toEqual([
      [0, a, "created"],
      [1, "broken", "error"],
      [2, "", "error"],
      [3, "", "error"],
      [4, b, "created"],
    ]);
    expect(results[1]).toEqual({
      index: 1,
      external_id: "broken",
      status: "error",
      data: null,
      error: 'agent_email: must be an email address; ["a/b~c"]: is not known',
      errors: [
        {
          pointer: "/work_items/1/agent_email",
          code: "invalid_format",
          message: "must be an email address",
        },
        { pointer: "/work_items/1/a~1b~0c", code: "unknown", message: "is not known" },
      ],
    });
    expect(results[2]!["errors"]).toMatchObject([
      { pointer: "/work_items/2/external_id", code: "required" },
      { pointer: "/work_items/2/agent_name", code: "too_small" },
    ]);
    expect(results[3]).toMatchObject({ error: expect.stringMatching(/^item: /), errors: [{ code: "invalid_type" }] });
    for (const [at, external_id] of [
      [0, a],
      [4, b],
    ] as const) {
      expect(Object.keys(results[at]!)).toEqual(["index", "external_id", "status", "data", "error"]);
      expect(results[at]!["data"]).toMatchObject({ external_id });
    }
  });

  it("is previewed by a dry run, and may apply nothing at all", async () => {
    const id = fresh();
    const preview = await apply({ work_items: [{ external_id: id }, {}], on_invalid: "skip", dry_run: true });
    expect(preview.body.data.summary).toMatchObject({ created: 1, error: 1 });
    expect((await service.call("listWorkItems", { query: { external_id: id } })).body.data).toEqual([]);
    const nothing = await apply({ work_items: [{}, null], on_invalid: "skip" });
    expect([nothing.status, nothing.body.data.summary]).toMatchObject([200, { total: 2, error: 2 }]);
  });

  it("still rejects bodies that aren't batches, too many items and too many events", async () => {
    const item = () => ({ external_id: fresh() });
    const events = Array.from({ length: 90 }, (_, index) => ({ external_id: `e${index}` }));
    const refused = [
      { work_items: [] },
      { work_items: {} },
      { work_items: Array.from({ length: 101 }, item) },
      { work_items: Array.from({ length: 23 }, () => ({ ...item(), events })) },
      { work_items: [item()], colour: "red" },
      {},
    ];
    for (const body of refused) expect((await apply({ ...body, on_invalid: "skip" })).status).toBe(422);
    expect((await apply({ work_items: [item()], on_invalid: "ignore" })).status).toBe(422);
  });

  it("rejects the whole batch by default, names every location, and writes nothing", async () => {
    const id = fresh();
    const { status, text } = await apply({ work_items: [{ external_id: id }, { agent_email: "x" }, 1] });
    expect(status).toBe(422);
    for (const location of ["work_items[1].external_id: ", "work_items[1].agent_email: ", "work_items[2]: "]) {
      expect(text).toContain(location);
    }
    expect((await service.call("listWorkItems", { query: { external_id: id } })).body.data).toEqual([]);
  });

  it("stays within the response's size however much is wrong", async () => {
    const wrong = () =>
      Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${'"'.repeat(120)}${index}`, index]));
    const response = await apply({ work_items: Array.from({ length: 95 }, wrong), on_invalid: "skip" });
    expect(response.status).toBe(200);
    expect(Buffer.byteLength(JSON.stringify(response.text))).toBeLessThan(6 * 1024 ** 2);
    const [first] = resultsOf(response);
    expect(first!["errors"]).toHaveLength(10);
    expect(first!["error"]).toMatch(/; and 91 more$/);
  });
});

it("an item that cannot be applied says why in a code too, and the others are applied", async () => {
  const id = fresh();
  const half = "x".repeat(200_000);
  await apply({ work_items: [{ external_id: id, custom_attributes: { a: half } }] });
  const work_items = [{ external_id: id, custom_attributes: { b: half } }, { external_id: fresh() }];
  const [result, other] = resultsOf(await apply({ work_items }));
  expect(other).toMatchObject({ status: "created" });
  expect(result).toMatchObject({
    status: "error",
    data: null,
    error: expect.stringMatching(/^custom_attributes: .*after the merge$/),
    errors: [{ pointer: "/work_items/0/custom_attributes", code: "too_big" }],
  });
});
