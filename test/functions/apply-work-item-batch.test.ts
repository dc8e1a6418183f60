import { beforeAll, describe, expect, it } from "vitest";
import { createTestService } from "../support/service.ts";

let service: Awaited<ReturnType<typeof createTestService>>;
beforeAll(async () => {
  service = await createTestService();
});
const call: typeof service.call = (name, request) => service.call(name, request);

let counter = 0;
const fresh = (): string => `item-${counter++}`;

describe("a batch", () => {
  it("returns a result for each item in order with the five keys, and a summary", async () => {
    const [a, b] = [fresh(), fresh()];
    const { status, body } = await call("applyWorkItemBatch", {
      body: { work_items: [{ external_id: a }, { external_id: b }, { external_id: a, type: "call" }] },
    });
    expect(status).toBe(200);
    expect(body.data.dry_run).toBe(false);
    expect(body.data.summary).toEqual({ total: 3, created: 2, updated: 1, unchanged: 0, restored: 0, error: 0 });
    const results = body.data.results;
    expect(results.map((result) => [result.index, result.external_id, result.status, result.error])).toEqual([
      [0, a, "created", null],
      [1, b, "created", null],
      [2, a, "updated", null],
    ]);
    expect(results.every((result) => !Object.hasOwn(result.data!, "events"))).toBe(true);
  });
  it.each([
    ["no items", { work_items: [] }, "work_items"],
    [
      "101 items",
      { work_items: Array.from({ length: 101 }, (_, index) => ({ external_id: `x${index}` })) },
      "work_items",
    ],
    ["an unknown key", { work_items: [{ external_id: "x", color: 1 }] }, "work_items[0].color"],
    [
      "every offender",
      {
        work_items: [
          { external_id: "" },
          { external_id: "x", agent_email: "no", completed_at: "2026-02-30T00:00:00Z" },
        ],
      },
      "work_items[1].completed_at",
    ],
    [
      "a date without offset",
      { work_items: [{ external_id: "x", completed_at: "2026-02-01T00:00:00" }] },
      "work_items[0].completed_at",
    ],
    ["a status of its own", { work_items: [{ external_id: "x", status: "done" }] }, "work_items[0].status"],
    [
      "an external_id of 513 characters",
      { work_items: [{ external_id: "漢".repeat(513) }] },
      "work_items[0].external_id",
    ],
    [
      "an event without external_id",
      { work_items: [{ external_id: "x", events: [{}] }] },
      "work_items[0].events[0].external_id",
    ],
    [
      "more than 2,000 events",
      {
        work_items: Array.from({ length: 21 }, (_, item) => ({
          external_id: `x${item}`,
          events: Array.from({ length: 99 }, (__, index) => ({ external_id: `${index}` })),
        })),
      },
      "2000 events",
    ],
    ["a dry_run that isn't a boolean", { work_items: [{ external_id: "x" }], dry_run: "yes" }, "dry_run"],
    [
      "attributes of 257 KiB",
      { work_items: [{ external_id: "x", custom_attributes: { a: "x".repeat(257 * 1024) } }] },
      "work_items[0].custom_attributes",
    ],
    [
      "content of 65 KiB",
      { work_items: [{ external_id: "x", events: [{ external_id: "e", content: "x".repeat(65 * 1024) }] }] },
      "work_items[0].events[0].content",
    ],
  ])("rejects %s with 422 that names the place, and writes nothing", async (_, body, named) => {
    const response = await call("applyWorkItemBatch", { body });
    expect(response.status, response.text).toBe(422);
    expect(Object.keys(response.body)).toEqual(["error"]);
    expect(response.text).toContain(named);
    expect((await call("listWorkItems", { query: { external_id: "x" } })).body.data).toEqual([]);
  });
  it.each([
    ["__proto__", '{"__proto__":1}'],
    ["an escaped __proto__ deep down", '{"a":[{"\\u005f_proto__":1}]}'],
    ["a number beyond a double", '{"a":1e400}'],
    ["40 levels", `{"a":${"[".repeat(40)}${"]".repeat(40)}}`],
    ["5,000 levels", `{"a":${"[".repeat(5000)}${"]".repeat(5000)}}`],
    ["a million levels", `{"a":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}`],
  ])("rejects custom attributes with %s", async (_, attributes) => {
    const { status, text } = await call("applyWorkItemBatch", {
      body: `{"work_items":[{"external_id":"x","custom_attributes":${attributes}}]}`,
    });
    expect([status, text.length < 500], text.slice(0, 300)).toEqual([422, true]);
  });
  it("rejects a lone surrogate in an external_id", async () => {
    const { status, text } = await call("applyWorkItemBatch", {
      body: String.raw`{"work_items":[{"external_id":"a\ud800"}]}`,
    });
    expect([status, text.includes("work_items[0].external_id")]).toEqual([422, true]);
  });
});
