import { describe, expect, it } from "vitest";
import { type JsonObject, parseJsonObject } from "../../../lib/json.ts";
import { planApply, planEvent } from "../../../lib/work-items/plan-apply.ts";
import {
  afterImport,
  afterWrite,
  beforeEvent,
  NO_LAYERS,
  planUndo,
  storedLayersSchema,
  toStoredLayers,
  undoLayersOf,
  type UndoLayers,
  withoutLayers,
} from "../../../lib/work-items/undo-layers.ts";
import type { Changes, WorkItem, WorkItemEvent } from "../../../lib/work-items/work-item.ts";
import { simulate } from "../../proofs/undo/undo-model.ts";

const NOW = "2026-12-01T00:00:00.000Z";
const LATER = "2026-12-02T00:00:00.000Z";
const NOW_MS = Date.parse(NOW);
const DAY_MS = 86_400_000;
const DONE = "2026-11-30T00:00:00.000Z";

type Event = WorkItemEvent & { readonly deleted_at: string | null };
/** A record between two writes. The layers are as they are stored. */
interface Stored<T extends WorkItem | Event = WorkItem> {
  readonly fields: T | null;
  readonly text: string | null;
}
const NOTHING: Stored<never> = { fields: null, text: null };
const jobOf = (number: number) => ({ id: `job-${number}`, createdAt: NOW_MS + number });
const [FIRST, SECOND] = [jobOf(1), jobOf(2)];

const layersOf = <T extends WorkItem | Event>({ fields, text }: Stored<T>): UndoLayers =>
  fields === null || text === null ? NO_LAYERS : undoLayersOf(storedLayersSchema.parse(text), fields);
const storedAs = <T extends WorkItem | Event>(fields: T, undo: UndoLayers, now = NOW_MS): Stored<T> => ({
  fields,
  text: toStoredLayers(undo, fields, now),
});
const applied = (stored: WorkItem | null, input: Changes): WorkItem => {
  const plan = planApply(stored, "INC1", input, NOW);
  if (plan.outcome === "error") throw new Error(plan.error.message);
  return plan.next;
};
const item = (input: Changes = {}): Stored => ({ fields: applied(null, input), text: null });
const imported = (stored: Stored, job: typeof FIRST, input: Changes): Stored => {
  const next = applied(stored.fields, input);
  return storedAs(next, afterImport(layersOf(stored), stored.fields, next, job));
};
const written = (stored: Stored, change: Partial<WorkItem>): Stored => {
  const next = { ...stored.fields!, ...change };
  return storedAs(next, afterWrite(layersOf(stored), stored.fields, next));
};
const undone = <T extends WorkItem | Event>(stored: Stored<T>, job: typeof FIRST) => {
  const { next, undo, outcome, kept } = planUndo<T>(layersOf(stored), stored.fields!, job, LATER);
  return { stored: storedAs(next, undo), next, outcome, kept: Object.fromEntries(kept) };
};
const attributesOf = ({ custom_attributes }: WorkItem): JsonObject => parseJsonObject(custom_attributes);

describe("the undo of an import", () => {
  it("puts back what the import set, and leaves no trace in the record", () => {
    const before = item({ agent_name: "Ann", custom_attributes: { a: 1, b: null } });
    const after = imported(before, FIRST, { agent_name: null, custom_attributes: { a: 2, b: 3, c: 4 } });
    const undo = undone(after, FIRST);
    expect(undo).toMatchObject({ outcome: "undone", kept: {} });
    expect(undo.stored).toEqual(before);
  });

  it("keeps every digit of a number", () => {
    const before = item({ custom_attributes: parseJsonObject('{"n":0.10000000000000000001,"m":9007199254740993}') });
    const after = imported(before, FIRST, { custom_attributes: { n: 1, m: 2 } });
    expect(undone(after, FIRST).next.custom_attributes).toBe(before.fields!.custom_attributes);
  });

  it("puts a status back that followed completed_at, without the rules that derive it", () => {
    const after = imported(item({ status: "cancelled" }), FIRST, { status: "completed", completed_at: DONE });
    expect(undone(after, FIRST).next).toMatchObject({ status: "cancelled", completed_at: null });
  });

  it("keeps and names what someone has changed since, even if it was changed back", () => {
    const after = imported(item(), FIRST, { agent_name: "Ann", type: "call", custom_attributes: { a: 1 } });
    const changed = written(written(after, { agent_name: "Bea" }), { agent_name: "Ann" });
    const undo = undone(written(changed, { custom_attributes: '{"a":2}' }), FIRST);
    expect(undo).toMatchObject({ outcome: "partly", kept: { agent_name: ["Ann"], "custom_attributes.a": [2] } });
    expect(undo.next).toMatchObject({ agent_name: "Ann", type: "work_item", custom_attributes: '{"a":2}' });
    expect(undo.stored.text).toBeNull();
  });

  it("names a custom attribute that someone has removed since", () => {
    const after = imported(item(), FIRST, { custom_attributes: { a: 1 } });
    const undo = undone(written(after, { custom_attributes: "{}" }), FIRST);
    expect(undo).toMatchObject({ outcome: "kept", kept: { "custom_attributes.a": [] } });
  });

  it("has nothing to do for an item that its import didn't change", () => {
    const before = item({ type: "call" });
    expect(imported(before, FIRST, { type: "call" })).toEqual(before);
    expect(undone(before, FIRST)).toMatchObject({ outcome: "nothing", stored: before });
    const backAgain = imported(imported(before, FIRST, { type: "chat" }), FIRST, { type: "call" });
    expect(undone(backAgain, FIRST)).toMatchObject({ outcome: "nothing", stored: before });
  });

  it.each([
    ["the later one first", SECOND, FIRST],
    ["the earlier one first", FIRST, SECOND],
  ])("of two imports, %s, leaves what was before both", (_order, one, other) => {
    const before = item({ type: "call", custom_attributes: { a: 1 } });
    const after = imported(imported(before, FIRST, { type: "chat", custom_attributes: { a: 2 } }), SECOND, {
      type: "mail",
      custom_attributes: { b: 3 },
    });
    const undo = undone(undone(after, one).stored, other);
    expect(undo.stored.fields).toEqual({ ...before.fields, custom_attributes: undo.next.custom_attributes });
    expect(attributesOf(undo.next)).toEqual({ a: 1 });
  });
});

describe("an item that an import made", () => {
  const made = imported(NOTHING, FIRST, { agent_name: "Ann", completed_at: DONE, custom_attributes: { a: 1 } });

  it("is deleted and empty after the undo", () => {
    const undo = undone(made, FIRST);
    expect(undo).toMatchObject({ outcome: "undone", kept: {} });
    expect(undo.next).toEqual({ ...item().fields, deleted_at: LATER });
  });

  it("is made again by the next import, whose undo empties it again", () => {
    const again = imported(undone(made, FIRST).stored, SECOND, { type: "call" });
    expect(again.fields).toMatchObject({ type: "call", agent_name: null, deleted_at: null });
    const edited = written(again, { agent_name: "Bea" });
    expect(undone(edited, SECOND)).toMatchObject({ outcome: "kept", next: { type: "call" } });
    expect(undone(again, SECOND).next).toMatchObject({ type: "work_item", deleted_at: LATER });
  });

  it("stays whole if someone else has changed any of it", () => {
    const undo = undone(written(made, { type: "call" }), FIRST);
    expect(undo).toMatchObject({ outcome: "kept", kept: { deleted_at: [null], type: ["call"] } });
    expect(undo.next).toEqual({ ...made.fields, type: "call" });
  });

  it("is deleted though it was evaluated, and keeps the score", () => {
    const scored = { ...made, fields: { ...made.fields!, qa_score: 0.5 } };
    expect(undone(scored, FIRST)).toMatchObject({ outcome: "undone", next: { deleted_at: LATER, qa_score: 0.5 } });
  });

  it("stays deleted if someone deleted it, and loses its fields", () => {
    const undo = undone(written(made, { deleted_at: NOW }), FIRST);
    expect(undo).toMatchObject({ outcome: "undone", kept: {}, next: { deleted_at: NOW, agent_name: null } });
  });

  it("passes to another import that uses it, and goes with that", () => {
    const used = imported(made, SECOND, { type: "call" });
    const first = undone(used, FIRST);
    expect(first).toMatchObject({ outcome: "kept", kept: { deleted_at: [null], type: ["call"] } });
    expect(first.next).toEqual(used.fields);
    expect(undone(first.stored, SECOND).next).toEqual({ ...item().fields, deleted_at: LATER });
  });

  it("costs less than 100 bytes, whatever its fields", () => {
    const id = { id: "0b6f7c1e-8a44-8f0e-9c55-3d0c1f2a7b90", createdAt: NOW_MS };
    const large = imported(NOTHING, id, {
      agent_name: "Ann",
      type: "call",
      completed_at: DONE,
      custom_attributes: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`attribute ${index}`, index])),
    });
    expect(Buffer.byteLength(large.text!)).toBeLessThan(100);
    expect(undone(large, id).next).toEqual({ ...item().fields, deleted_at: LATER });
  });
});

describe("an item that an import restored", () => {
  const deleted: Stored = { fields: { ...item({ type: "call" }).fields!, deleted_at: NOW }, text: null };
  const restored = imported(deleted, FIRST, { agent_name: "Ann" });

  it("is deleted again, as it was", () => {
    expect(undone(restored, FIRST).stored).toEqual(deleted);
  });
  it("stays if someone has changed it, without what only the import set", () => {
    const undo = undone(written(restored, { type: "chat" }), FIRST);
    expect(undo).toMatchObject({ outcome: "partly", kept: { deleted_at: [null] } });
    expect(undo.next).toMatchObject({ agent_name: null, type: "chat", deleted_at: null });
  });
  it("stays for another import that uses it, and is deleted again with that", () => {
    const first = undone(imported(restored, SECOND, { type: "chat" }), FIRST);
    expect(first).toMatchObject({ outcome: "partly", kept: { deleted_at: [null] }, next: { agent_name: null } });
    expect(undone(first.stored, SECOND).stored).toEqual(deleted);
  });
});

describe("an event", () => {
  const eventAfter = (stored: Event | null, content: string): Event => ({
    ...planEvent(stored, [{ external_id: "E1", content }], NOW).next,
    deleted_at: null,
  });
  const fields = eventAfter(null, "made");
  const made: Stored<Event> = storedAs(fields, afterImport(NO_LAYERS, null, fields, FIRST));

  it("that an import made is deleted by the undo", () => {
    expect(undone(made, FIRST).next).toEqual({ ...fields, content: null, deleted_at: LATER });
  });

  it("keeps the item that an import made, if someone else wrote it", () => {
    const owner = imported(NOTHING, FIRST, { type: "call" });
    const adopted = storedAs(owner.fields!, beforeEvent(layersOf(owner)));
    expect(adopted.text).not.toBe(owner.text);
    expect(undone(adopted, FIRST)).toMatchObject({ outcome: "kept", next: owner.fields });
  });

  it("of another import keeps the item until that import is undone too", () => {
    const owner = imported(NOTHING, FIRST, { type: "call" });
    const layers = layersOf(owner);
    expect(beforeEvent(layers, FIRST)).toBe(layers);
    const used = storedAs(owner.fields!, beforeEvent(layers, SECOND));
    const again = layersOf(used);
    expect(beforeEvent(again, SECOND)).toBe(again);
    const first = undone(used, FIRST);
    expect(first).toMatchObject({ outcome: "kept", next: owner.fields });
    expect(undone(first.stored, SECOND).next).toMatchObject({ type: "work_item", deleted_at: LATER });
  });

  it("needs no write of an item that no import made or restored", () => {
    const layers = layersOf(imported(item(), FIRST, { type: "call" }));
    expect(beforeEvent(layers)).toBe(layers);
    expect(beforeEvent(layers, SECOND)).toBe(layers);
  });
});

describe("layers that are dropped", () => {
  const attribute = (number: number): Changes => ({ custom_attributes: { [`a${number}`]: number } });
  const fourth = [1, 2, 3, 4].reduce((stored, number) => imported(stored, jobOf(number), attribute(number)), item());

  it("are the lowest job's when a fourth comes, and its undo says so", () => {
    expect(undone(fourth, FIRST)).toMatchObject({ outcome: "dropped", kept: {}, stored: fourth });
    expect(attributesOf(undone(fourth, SECOND).next)).toEqual({ a1: 1, a3: 3, a4: 4 });
    expect(undone(fourth, jobOf(5)).outcome).toBe("nothing");
  });

  it("let nothing below them come back", () => {
    const lower = imported(imported(imported(item(), FIRST, attribute(1)), SECOND, { type: "chat" }), FIRST, {
      type: "call",
    });
    const full = [3, 4].reduce((stored, number) => imported(stored, jobOf(number), attribute(number)), lower);
    expect(undone(full, FIRST).outcome).toBe("dropped");
    expect(undone(full, SECOND)).toMatchObject({ outcome: "kept", kept: { type: ["call"] } });
  });

  it("make their import a writer like any other", () => {
    const changed = imported(fourth, FIRST, { custom_attributes: { a2: 20 } });
    expect(undone(changed, SECOND)).toMatchObject({ outcome: "kept", kept: { "custom_attributes.a2": [20] } });
    expect(undone(changed, FIRST).outcome).toBe("dropped");
  });

  it("are those that are too large, so that no write fails", () => {
    const long = (letter: string): Changes => ({ custom_attributes: { text: letter.repeat(60_000) } });
    const twice = imported(imported(item(long("a")), FIRST, long("b")), SECOND, long("c"));
    expect(undone(twice, FIRST).outcome).toBe("dropped");
    expect(undone(twice, SECOND).next).toEqual(item(long("b")).fields);
    const tooLong = { custom_attributes: { text: "a".repeat(100_000) } };
    const alone = imported(item(tooLong), FIRST, long("b"));
    expect(alone.text!.length).toBeLessThan(100);
    expect(undone(alone, FIRST).outcome).toBe("dropped");
  });

  it("are those of an import that began 35 days ago", () => {
    const stored = imported(item(), FIRST, { type: "call" });
    const at = (days: number) => toStoredLayers(layersOf(stored), stored.fields!, FIRST.createdAt + days * DAY_MS);
    expect(at(35)).toBe(stored.text);
    expect(at(35.01)).toBeNull();
  });

  it("are all, for a person who is erased", () => {
    const stored = imported(item({ agent_name: "Ann" }), FIRST, { agent_name: "Bea" });
    const erased = storedAs(stored.fields!, withoutLayers(layersOf(stored)));
    expect(erased.text).not.toContain("Ann");
    expect(undone(erased, FIRST)).toMatchObject({ outcome: "dropped", next: stored.fields });
  });
});

it("refuses a damaged attribute", () => {
  expect(storedLayersSchema.safeParse("{").success).toBe(false);
  expect(storedLayersSchema.safeParse('{"layers":[["job",1,{"type":"call"}]]}').success).toBe(false);
});

it("leaves what the oracle demands in 300 simulations", () => {
  let undos = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const run = simulate(seed);
    expect([seed, run.wrong]).toEqual([seed, []]);
    undos += run.undone;
  }
  expect(undos).toBeGreaterThan(1500);
});
