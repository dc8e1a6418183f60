import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type JsonObject, parseJson } from "../../../lib/json.ts";
import {
  isUnfinished,
  type ItemPlan,
  planApply,
  planEvent,
  TOO_LARGE_AFTER_MERGE,
} from "../../../lib/work-items/plan-apply.ts";
import { CUSTOM_ATTRIBUTES_MAX_BYTES } from "../../../lib/schema.ts";
import type { WorkItem } from "../../../lib/work-items/work-item.ts";

const EARLIER = "2026-01-01T00:00:00.000Z";
const NOW = "2026-01-02T00:00:00.000Z";
const DONE = "2026-01-01T12:00:00.000Z";

const apply = (
  stored: WorkItem | null,
  input: Parameters<typeof planApply>[2],
): { outcome: string; next: WorkItem } => {
  const plan = planApply(stored, "INC1", input, NOW);
  if (plan.outcome === "error") throw new Error(plan.error.message);
  return plan;
};
const stored = (fields: Partial<WorkItem> = {}): WorkItem => ({
  ...(planApply(null, "INC1", {}, EARLIER) as Extract<ItemPlan, { next: WorkItem }>).next,
  ...fields,
});

const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const changes = fc
  .record({
    agent_email: optional(fc.constantFrom("a@example.com", "b@example.com")),
    agent_name: optional(fc.constantFrom("A", "B")),
    type: optional(fc.constantFrom("call", "chat")),
    status: optional(fc.constantFrom("pending", "in_progress", "completed", "cancelled")),
    completed_at: optional(fc.constantFrom(null, DONE, EARLIER)),
    custom_attributes: optional(
      fc.dictionary(fc.constantFrom("a", "b", "constructor", "a.b"), fc.jsonValue()) as fc.Arbitrary<JsonObject>,
    ),
  })
  .map((fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)));

describe("remove_attributes", () => {
  const text = '{"a":12345678901234567890,"b":null,"constructor":1}';
  const item = () => stored({ custom_attributes: text });

  it("removes attributes after the merge, and keeps every digit of the others", () => {
    const { outcome, next } = apply(item(), {
      custom_attributes: { c: 2, b: 3 },
      remove_attributes: ["b", "constructor"],
    });
    expect([outcome, next.custom_attributes]).toEqual(["updated", '{"a":12345678901234567890,"c":2}']);
    expect(apply(null, { custom_attributes: { a: 1, b: 2 }, remove_attributes: ["a"] }).next.custom_attributes).toBe(
      '{"b":2}',
    );
  });

  it.each([
    [{ remove_attributes: [] }],
    [{ remove_attributes: ["never", "toString", ""] }],
    [{ remove_attributes: ["d"], custom_attributes: { d: 1 } }],
    [{ custom_attributes: { b: null } }],
  ])("changes nothing where no stored attribute is removed: %j", (input) => {
    expect(apply(item(), input)).toEqual({ outcome: "unchanged", next: item() });
  });

  it("makes room for what is merged", () => {
    const large = "x".repeat(200_000);
    const full = stored({ custom_attributes: JSON.stringify({ old: large }) });
    const input = { custom_attributes: { new: large } };
    expect(planApply(full, "INC1", input, NOW)).toEqual({ outcome: "error", error: TOO_LARGE_AFTER_MERGE });
    const { next } = apply(full, { ...input, remove_attributes: ["old"] });
    expect(next.custom_attributes).toBe(JSON.stringify({ new: large }));
  });
});

describe("planApply", () => {
  it("gives a new item its defaults", () => {
    expect(apply(null, {})).toMatchObject({
      outcome: "created",
      next: {
        external_id: "INC1",
        agent_email: null,
        agent_name: null,
        agent_external_id: null,
        type: "work_item",
        status: "pending",
        completed_at: null,
        custom_attributes: "{}",
        created_at: NOW,
        updated_at: NOW,
        deleted_at: null,
        qa_score: null,
      },
    });
  });
  it.each([
    ["makes a new item with completed_at completed", null, { completed_at: DONE }, "completed"],
    [
      "keeps the status that a new item names beside completed_at",
      null,
      { completed_at: DONE, status: "cancelled" },
      "cancelled",
    ],
    [
      "keeps pending beside completed_at, as a new item names it",
      null,
      { completed_at: DONE, status: "pending" },
      "pending",
    ],
    [
      "keeps pending beside completed_at, as an item is told",
      stored({ status: "completed", completed_at: DONE }),
      { status: "pending" },
      "pending",
    ],
    [
      "leaves such an item pending when another time is set",
      stored({ status: "pending", completed_at: EARLIER }),
      { completed_at: DONE },
      "pending",
    ],
    ["completes a pending item when completed_at is set", stored(), { completed_at: DONE }, "completed"],
    [
      "completes an item in progress when completed_at is set",
      stored({ status: "in_progress" }),
      { completed_at: DONE },
      "completed",
    ],
    [
      "leaves a cancelled item cancelled when completed_at is set",
      stored({ status: "cancelled" }),
      { completed_at: DONE },
      "cancelled",
    ],
    [
      "reopens a completed item when completed_at is cleared",
      stored({ status: "completed", completed_at: DONE }),
      { completed_at: null },
      "in_progress",
    ],
    [
      "keeps a named status when completed_at is cleared",
      stored({ status: "completed", completed_at: DONE }),
      { completed_at: null, status: "completed" },
      "completed",
    ],
    [
      "keeps the status when completed_at moves",
      stored({ status: "completed", completed_at: EARLIER }),
      { completed_at: DONE },
      "completed",
    ],
    [
      "leaves a cancelled item cancelled when completed_at is cleared",
      stored({ status: "cancelled", completed_at: DONE }),
      { completed_at: null },
      "cancelled",
    ],
    ["keeps the status of an item without completed_at", stored({ status: "completed" }), { type: "x" }, "completed"],
  ] as const)("%s", (_, before, input, status) => {
    expect(apply(before, input).next.status).toBe(status);
  });
  it("keeps omitted fields and merges top-level attributes, nested ones replaced, null a value", () => {
    const before = stored({ agent_name: "Ann", custom_attributes: '{"a":{"x":1,"y":2},"b":1}' });
    const { outcome, next } = apply(before, { type: "call", custom_attributes: { a: { x: 3 }, c: null } });
    expect(outcome).toBe("updated");
    expect(next).toEqual({
      ...before,
      type: "call",
      custom_attributes: '{"a":{"x":3},"b":1,"c":null}',
      updated_at: NOW,
    });
    expect(apply(before, { agent_email: "b@example.com" }).next.agent_name).toBe("Ann");
  });
  it("finds an item unchanged whose nested keys come in another order", () => {
    const before = stored({ custom_attributes: '{"a":{"x":1,"y":[1,2]}}' });
    expect(apply(before, { custom_attributes: { a: { y: [1, 2], x: 1 } } })).toEqual({
      outcome: "unchanged",
      next: before,
    });
  });
  it("sees a difference in the last digit of a number that a double cannot hold", () => {
    const before = stored({ custom_attributes: '{"n":9007199254740993}' });
    const next = apply(before, { custom_attributes: parseJson('{"n":9007199254740992}') as JsonObject });
    expect(next.outcome).toBe("updated");
    expect(apply(before, { custom_attributes: parseJson('{"n":9007199254740993}') as JsonObject }).outcome).toBe(
      "unchanged",
    );
  });
  it("restores a soft-deleted item, keeps its attributes and its creation time", () => {
    const before = stored({ deleted_at: EARLIER, custom_attributes: '{"a":1}', qa_score: 0.5 });
    expect(apply(before, {})).toEqual({ outcome: "restored", next: { ...before, deleted_at: null, updated_at: NOW } });
  });
  it("rejects attributes that are too large only after the merge", () => {
    const half = "x".repeat(140 * 1024);
    const before = stored({ custom_attributes: JSON.stringify({ a: half }) });
    expect(planApply(before, "INC1", { custom_attributes: { b: half } }, NOW)).toEqual({
      outcome: "error",
      error: TOO_LARGE_AFTER_MERGE,
    });
    expect(planApply(before, "INC1", { custom_attributes: { a: half } }, NOW).outcome).toBe("unchanged");
    const fitting = "x".repeat(CUSTOM_ATTRIBUTES_MAX_BYTES - Buffer.byteLength(JSON.stringify({ a: "" })));
    expect(planApply(before, "INC1", { custom_attributes: { a: fitting } }, NOW).outcome).toBe("updated");
    const larger = stored({ custom_attributes: JSON.stringify({ a: half, b: half }) });
    expect(planApply(larger, "INC1", { type: "x" }, NOW).outcome).toBe("updated");
  });
  it("finds any input unchanged when it is applied again", () => {
    fc.assert(
      fc.property(changes, changes, (first, second) => {
        const item = apply(apply(null, first).next, second).next;
        expect(apply(item, second).outcome).toBe("unchanged");
      }),
    );
  });
  it("never changes external_id, created_at or qa_score of the stored item", () => {
    fc.assert(
      fc.property(changes, fc.option(fc.double({ min: 0, max: 1, noNaN: true })), (input, qa_score) => {
        const { next } = apply(stored({ qa_score }), input);
        expect([next.external_id, next.created_at, next.qa_score]).toEqual(["INC1", EARLIER, qa_score]);
      }),
    );
  });
});

it.each([
  ["pending", DONE, true],
  ["completed", DONE, false],
  ["pending", null, false],
] as const)("an item that is %s at %j is unfinished: %s", (status, completed_at, is) => {
  expect(isUnfinished({ status, completed_at })).toBe(is);
});

describe("planEvent", () => {
  const event = { external_id: "E1", actor_name: "Ann", content: "opened", occurred_at: DONE };
  it("creates, keeps omitted fields, clears with null and finds the same unchanged", () => {
    const created = planEvent(null, [event], NOW);
    const omitted = { actor_email: null, actor_external_id: null };
    expect(created).toEqual({
      outcome: "created",
      next: { ...event, ...omitted, created_at: NOW, deleted_at: null },
    });
    expect(planEvent(created.next, [event], NOW).outcome).toBe("unchanged");
    expect(planEvent(created.next, [{ external_id: "E1" }], NOW).outcome).toBe("unchanged");
    expect(planEvent(created.next, [{ external_id: "E1", content: null }], NOW)).toEqual({
      outcome: "updated",
      next: { ...created.next, content: null },
    });
    expect(planEvent(null, [event, { external_id: "E1", content: "closed" }], NOW).next.content).toBe("closed");
  });
});
