import { expect, it } from "vitest";
import { parseJsonObject } from "../../../../lib/json.ts";
import { planApply, planEvent } from "../../../../lib/work-items/plan-apply.ts";
import {
  afterImport,
  afterWrite,
  beforeEvent,
  NO_LAYERS,
  storedLayersSchema,
  toStoredLayers,
  undoLayersOf,
  type UndoLayers,
} from "../../../../lib/work-items/undo/layers.ts";
import { planUndo } from "../../../../lib/work-items/undo/plan-undo.ts";
import type { Changes, WorkItem } from "../../../../lib/work-items/work-item.ts";
import { simulate } from "../../../proofs/undo/undo-model.ts";

const NOW = "2026-12-01T00:00:00.000Z";
const LATER = "2026-12-02T00:00:00.000Z";
const NOW_MS = Date.parse(NOW);
const DAY_MS = 86_400_000;

/** A record between two writes. The layers are as they are stored. */
interface Stored {
  readonly fields: WorkItem | null;
  readonly text: string | null;
}
const NOTHING: Stored = { fields: null, text: null };
const FIRST = { id: "0b6f7c1e-8a44-8f0e-9c55-3d0c1f2a7b90", createdAt: NOW_MS + 1 };
const SECOND = { id: "job-2", createdAt: NOW_MS + 2 };

const layersOf = ({ fields, text }: Stored): UndoLayers =>
  fields === null || text === null ? NO_LAYERS : undoLayersOf(storedLayersSchema.parse(text), fields);
const storedAs = (fields: WorkItem, undo: UndoLayers): Stored => ({
  fields,
  text: toStoredLayers(undo, fields, NOW_MS),
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
const undone = (stored: Stored, job: typeof FIRST) => {
  const { next, undo, outcome, kept, reason } = planUndo(layersOf(stored), stored.fields!, job, LATER);
  return { stored: storedAs(next, undo), next, outcome, kept: Object.fromEntries(kept), reason };
};

// The oracle checks what an undo must leave after any writes (test/proofs/undo). This file checks the rest.

it("an undo puts back what the import set, with every digit, and leaves no trace in the record", () => {
  const attributes = parseJsonObject('{"n":0.10000000000000000001,"m":9007199254740993,"b":null}');
  const before = item({ agent_name: "Ann", custom_attributes: attributes });
  const after = imported(before, FIRST, { agent_name: null, custom_attributes: { n: 1, m: 2, b: 3, c: 4 } });
  const undo = undone(after, FIRST);
  expect(undo).toMatchObject({ outcome: "undone", kept: {}, reason: undefined });
  expect(undo.stored).toEqual(before);
  expect(undone(after, SECOND)).toMatchObject({ stored: after, outcome: "unchanged", reason: undefined });
});

it("an undo names a custom attribute that someone has removed since", () => {
  const after = imported(item(), FIRST, { custom_attributes: { a: 1 } });
  const undo = undone(written(after, { custom_attributes: "{}" }), FIRST);
  expect(undo).toMatchObject({ outcome: "kept", kept: { "custom_attributes.a": [] }, reason: "changed" });
});

it("custom attributes that would be too large stay as they are, out of the reach of any undo", () => {
  const before = imported(item({ custom_attributes: { long: "x".repeat(80_000), small: 1 } }), SECOND, {
    custom_attributes: { small: 2 },
  });
  const after = imported(before, FIRST, { type: "call", custom_attributes: { long: "short", small: 3, fresh: 4 } });
  const others = "x".repeat(200_000);
  const full = written(after, { custom_attributes: JSON.stringify({ long: "short", small: 3, fresh: 4, others }) });
  const undo = undone(full, FIRST);
  const kept = { "custom_attributes.long": ["short"], "custom_attributes.small": [3] };
  expect(undo).toMatchObject({ outcome: "partly", kept, reason: "too_large" });
  const left = JSON.stringify({ long: "short", small: 3, others });
  expect(undo.next).toMatchObject({ type: "work_item", custom_attributes: left });
  expect(undone(undo.stored, SECOND)).toMatchObject({ outcome: "kept", next: { custom_attributes: left } });
});

it("an item that an import made stays whole if someone else has changed any of it", () => {
  const made = imported(NOTHING, FIRST, { agent_name: "Ann", completed_at: NOW });
  const undo = undone(written(made, { type: "call" }), FIRST);
  expect(undo).toMatchObject({ outcome: "kept", kept: { deleted_at: [null], type: ["call"] }, reason: "in_use" });
  expect(undo.next).toEqual({ ...made.fields, type: "call" });
});

it("an event that an import made is deleted by the undo, and gets no attributes", () => {
  const made = { ...planEvent(null, [{ external_id: "E1", content: "made" }], NOW).next, deleted_at: null };
  const { next } = planUndo(afterImport(NO_LAYERS, null, made, FIRST), made, FIRST, LATER);
  expect(next).toEqual({ ...made, content: null, deleted_at: LATER });
});

it("an item that an import made costs less than 100 bytes, whatever its fields", () => {
  const large = imported(NOTHING, FIRST, {
    agent_name: "Ann",
    completed_at: NOW,
    custom_attributes: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`attribute ${index}`, index])),
  });
  expect(Buffer.byteLength(large.text!)).toBeLessThan(100);
  expect(undone(large, FIRST).next).toEqual({ ...item().fields, deleted_at: LATER });
});

it("an event needs no write of an item that no import made or restored", () => {
  const layers = layersOf(imported(item(), FIRST, { type: "call" }));
  expect(beforeEvent(layers)).toBe(layers);
  expect(beforeEvent(layers, SECOND)).toBe(layers);
});

it("an item that an import restored stays if someone uses it, and the undo says whether only by an event", () => {
  const deleted = storedAs({ ...item().fields!, deleted_at: NOW }, NO_LAYERS);
  const restored = imported(deleted, FIRST, { type: "call" });
  const used = storedAs(restored.fields!, beforeEvent(layersOf(restored)));
  const reasons = [used, written(restored, { agent_name: "Ann" })].map((stored) => undone(stored, FIRST).reason);
  expect(reasons).toEqual(["in_use_by_event", "in_use"]);
  expect(undone(restored, FIRST).next.deleted_at).toBe(NOW);
  const gone = undone(written(restored, { deleted_at: LATER }), FIRST);
  expect([gone.outcome, gone.kept, gone.reason]).toEqual(["undone", {}, undefined]);
});

it("an item that an import made and another uses stays whole, and the undo says by which fields, or that by an event", () => {
  const made = imported(NOTHING, FIRST, { agent_name: "Ann" });
  const used = [
    imported(made, SECOND, { type: "call" }),
    storedAs(made.fields!, beforeEvent(layersOf(made), SECOND)),
  ].map((stored) => undone(stored, FIRST));
  expect(used.map(({ outcome, kept, reason }) => [outcome, kept, reason])).toEqual([
    ["kept", { deleted_at: [null], type: ["call"] }, "in_use"],
    ["kept", { deleted_at: [null] }, "in_use_by_event"],
  ]);
});

it("layers that are too large are dropped, so that no write fails", () => {
  const long = (letter: string): Changes => ({ custom_attributes: { text: letter.repeat(60_000) } });
  const twice = imported(imported(item(long("a")), FIRST, long("b")), SECOND, long("c"));
  expect(undone(twice, FIRST).outcome).toBe("dropped");
  expect(undone(twice, SECOND).next).toEqual(item(long("b")).fields);
  const tooLong = { custom_attributes: { text: "a".repeat(100_000) } };
  const alone = imported(item(tooLong), FIRST, long("b"));
  expect(alone.text!.length).toBeLessThan(100);
  expect(undone(alone, FIRST).outcome).toBe("dropped");
});

it("a record keeps the layers of three imports, and drops those of the first", () => {
  const jobs = ["1", "2", "3", "4"].map((type, index) => ({ id: type, createdAt: NOW_MS + index }));
  const stored = jobs.reduce((before, job) => imported(before, job, { type: job.id }), item());
  const isForgotten = jobs.map((job) => undone(stored, job).reason === "forgotten");
  expect(isForgotten).toEqual([true, false, false, false]);
});

it("layers of an import that began 35 days ago are dropped", () => {
  const stored = imported(item(), FIRST, { type: "call" });
  const at = (days: number) => toStoredLayers(layersOf(stored), stored.fields!, FIRST.createdAt + days * DAY_MS);
  expect(at(35)).toBe(stored.text);
  expect(at(35.01)).toBeNull();
});

it("refuses a damaged attribute", () => {
  expect(storedLayersSchema.safeParse("{").success).toBe(false);
  expect(storedLayersSchema.safeParse('{"layers":[["job",1,{"type":"call"}]]}').success).toBe(false);
});

it("leaves what the oracle demands in 300 simulations, and in one in which layers must cover others", () => {
  let undos = 0;
  for (const seed of [...Array.from({ length: 300 }, (_, index) => index + 1), 1259]) {
    const run = simulate(seed);
    expect([seed, run.wrong]).toEqual([seed, []]);
    undos += run.undone;
  }
  expect(undos).toBeGreaterThan(1500);
});
