import { Logger } from "@aws-lambda-powertools/logger";
import { expect, it } from "vitest";
import { createDynamoDbClient } from "../../../lib/aws/dynamodb-client.ts";
import type { WriteTarget } from "../../../lib/store/optimistic-write.ts";
import { createRecordStore } from "../../../lib/store/record-store.ts";
import type { StoredRecord } from "../../../lib/store/versioned-record.ts";
import { CANNOT_BE_APPLIED, type ItemInput } from "../../../lib/work-items/pending-input.ts";
import { TOO_LARGE_AFTER_MERGE } from "../../../lib/work-items/plan-apply.ts";
import { createPlannedRecords, createStoredRecords } from "../../../lib/work-items/planned-records.ts";
import * as targets from "../../../lib/work-items/write-targets.ts";
import { organizationWith } from "../../support/organization.ts";

const NOW = "2026-03-01T12:00:00.000Z";
const clock = () => Date.parse(NOW);
const organization = organizationWith();
const environment = { WORK_ITEMS_TABLE: "of no one" };
const store = createRecordStore({ clock, environment, dynamodb: createDynamoDbClient(), log: new Logger() });
const recordsOf = (id: string) => createStoredRecords(store, organization, clock, { id, createdAt: clock() });
const window = { job: "a", ended: new Set<string>(), firstRow: 2, withEvents: new Set<number>() };
let causes: unknown[] = [];
const report = (cause: unknown) => void causes.push(cause);
const context = { records: recordsOf("a"), owners: new Map<string, StoredRecord>(), window, now: () => NOW, report };
type Context = Partial<targets.WriteContext>;

/** Carries out the plan of a target. */
const write = <R>(target: WriteTarget<R>, stored?: StoredRecord) => {
  const plan = target.plan(stored);
  return { ...plan, record: { ...target.key, version: 1, writes: "", ...(plan.set ?? stored) } as StoredRecord };
};
/** Writes the item of some inputs. */
const writeItem = (inputs: readonly ItemInput[], stored?: StoredRecord, changed: Context = {}) => {
  const [group] = targets.groupByItem(organization, inputs).items;
  const { result, ...written } = write(targets.targetOfItem(group!, { ...context, ...changed }), stored);
  const effects = result.map(({ plan, changes: { fields }, recognized }) => {
    const effect = plan.outcome === "error" ? [plan.error.message] : [plan.outcome, plan.next.type, ...fields];
    return [...effect, ...(recognized ? ["again"] : [])].join(" ");
  });
  return { ...written, effects };
};
/** Writes the event of some inputs. */
const writeEvent = (inputs: readonly ItemInput[], stored?: StoredRecord, changed: Context = {}) => {
  const [group] = targets.groupEvents(organization, targets.groupByItem(organization, inputs).pending);
  const { result, ...written } = write(targets.targetOfEvent(group!, { ...context, ...changed }), stored);
  return { ...written, effects: result.map(({ outcome, recognized }) => outcome + (recognized ? " again" : "")) };
};
const row = (number: number, type: string, fields: object = {}) => ({
  row: number,
  input: { external_id: "A", type, ...fields },
});
const eventRow = (number: number, content: string) => row(number, "x", { events: [{ external_id: "E", content }] });
/** An input that can't be planned. */
const brokenInput = (external_id: string, field: string) => {
  const get = (): never => {
    throw new RangeError("defect");
  };
  return Object.defineProperty({ external_id }, field, { get, enumerable: true });
};
const large = (number: number, name: string) =>
  row(number, "x", { custom_attributes: { [name]: "x".repeat(150_000) } });
const ROWS = [row(2, "one"), row(3, "two"), row(4, "two")];

it("inputs are grouped by their items, and events by theirs", () => {
  const events = [{ external_id: "E" }, { external_id: "F" }, { external_id: "E" }];
  const inputs = [row(2, "x", { events }), { input: { external_id: "B" } }, row(3, "y", { events })];
  const { pending, items } = targets.groupByItem(organization, inputs);
  expect(items.map(({ id }) => id)).toEqual([pending[0]!.id, pending[1]!.id]);
  expect(items.map((group) => group.inputs)).toEqual([[pending[0], pending[2]], [pending[1]]]);
  const groups = targets.groupEvents(organization, pending);
  expect(groups.map((group) => [...group.inputs.values()].map((own) => own.length).join())).toEqual(["2,2", "1,1"]);
});

it("rows of an item change it in turn, and change nothing when they come again, whatever others have changed", () => {
  const { record, effects } = writeItem(ROWS);
  expect(effects).toEqual(["created one", "updated two", "unchanged two"]);
  expect(record).toMatchObject({ type: "two", applied_rows: "a:2c1u1n", undo: expect.any(String) as string });
  const again = writeItem([...ROWS, row(5, "new")], { ...record, type: "patched" });
  expect(again.effects).toEqual([
    "created patched again",
    "updated patched again",
    "unchanged patched again",
    "updated new",
  ]);
  expect(again.record).toMatchObject({ type: "new", applied_rows: "a:2c1u1n1u" });
  expect(writeItem(ROWS, { ...record, type: "patched" }).set).toBe(null);
  // A batch remembers no rows.
  const batch = writeItem(ROWS, record, { window: undefined });
  expect(batch.effects).toEqual(["updated one", "updated two", "unchanged two"]);
  expect(batch.set).not.toHaveProperty("applied_rows");
});

it("a row that only its events remember changes nothing, unless its item is gone", () => {
  const { record } = writeItem([row(9, "x")], undefined, { window: undefined });
  const withEvents = { window: { ...window, withEvents: new Set([2]) } };
  expect(writeItem([row(2, "y"), row(3, "z")], record, withEvents).effects).toEqual(["unchanged x again", "updated z"]);
  expect(writeItem([row(2, "y")], undefined, withEvents).effects).toEqual(["created y"]);
});

it("a row that has failed fails again: as it does now, or else because it was too large", () => {
  causes = [];
  const rows = [large(2, "a"), large(3, "b"), row(4, "y")];
  const { record, effects } = writeItem(rows);
  expect([effects[1], record["applied_rows"]]).toEqual([TOO_LARGE_AFTER_MERGE.message, "a:2c1e1u"]);
  const smaller = { ...record, custom_attributes: "{}" };
  expect(writeItem(rows, smaller).effects[1]).toBe(`${TOO_LARGE_AFTER_MERGE.message} again`);
  const broken = { row: 3, input: brokenInput("A", "status") };
  expect(writeItem([broken], record).effects).toEqual([`${CANNOT_BE_APPLIED.message} again`]);
  expect(causes).toEqual([new RangeError("defect")]);
});

it("a hundred open jobs' windows of one item stay below the size that DynamoDB takes", () => {
  const rows = Array.from({ length: 200 }, (_, index) => row(1_000_000 + 7 * index, `type ${index}`));
  const { record } = writeItem([row(2, "x", { custom_attributes: { a: "x".repeat(260_000) } })]);
  const jobs = Array.from({ length: 100 }, (_, job) => `00000000-0000-4000-8000-0000000000${job + 10}`);
  const last = jobs.reduce((before, job) => {
    return writeItem(rows, before, { records: recordsOf(job), window: { ...window, job } }).record;
  }, record);
  expect(JSON.stringify(last).length).toBeLessThan(390_000);
});

it("a dry run remembers the fields that its rows change", () => {
  const records = createPlannedRecords(store, organization, "a", clock);
  const { record, effects } = writeItem([large(2, "a"), row(3, "two"), large(4, "b")], undefined, { records });
  expect(effects).toEqual(["created x", "updated two type", TOO_LARGE_AFTER_MERGE.message]);
  expect(record).toMatchObject({ applied_rows: "a:2c1uD1e", expires_at: expect.any(Number) as number });
  const again = writeItem([row(3, "two"), row(5, "new")], { ...record, deleted_at: NOW }, { records });
  expect(again.effects).toEqual(["updated two type again", "restored new type"]);
});

it("rows of an event change it in turn, and change nothing when they come again", () => {
  const { record, effects } = writeEvent([eventRow(2, "one"), eventRow(3, "two")]);
  expect(effects).toEqual(["created", "updated"]);
  expect(record).toMatchObject({ content: "two", applied_rows: "a:2c1u", undo: expect.any(String) as string });
  const again = writeEvent([eventRow(2, "one"), eventRow(5, "two")], record);
  expect([again.effects, again.set]).toEqual([["created again", "unchanged"], null]);
  expect(writeEvent([eventRow(5, "three")], record).record["applied_rows"]).toBe("a:2c1u2u");
  expect(writeEvent([eventRow(0, "one")], undefined, { window: undefined }).set).not.toHaveProperty("applied_rows");
});

it("an event of a deleted item isn't written, unless the same row has written the item", () => {
  const { record: owner } = writeItem([row(2, "x")]);
  const deleted = { owners: new Map([[owner.pk, { ...owner, deleted_at: NOW }]]) };
  const { record, effects } = writeEvent([eventRow(2, "one"), eventRow(3, "two")], undefined, deleted);
  expect([record["applied_rows"], effects]).toEqual(["a:2c", ["created", "orphaned"]]);
  const batch = writeEvent([eventRow(0, "one")], undefined, { ...deleted, window: undefined });
  expect([batch.effects, batch.set]).toEqual([["orphaned"], null]);
  const living = { owners: new Map([[owner.pk, owner]]) };
  expect(writeEvent([eventRow(3, "two")], undefined, living).effects).toEqual(["created"]);
});

it("the first event that an import adds to another's item is written together with the item", () => {
  const { record: owner } = writeItem([row(2, "x")], undefined, { records: recordsOf("b") });
  const owners = new Map([[owner.pk, owner]]);
  const { together } = writeEvent([eventRow(2, "one")], undefined, { owners });
  const layers = {
    layers: [
      ["b", clock(), { deleted_at: [] }],
      ["a", clock(), {}],
    ],
  };
  expect(together).toEqual({ record: owner, set: { undo: JSON.stringify(layers), event_writes: 1 } });
  expect(writeEvent([eventRow(2, "one")], undefined, { owners, records: recordsOf("b") }).together).toBe(undefined);
});

it("an event that can't be planned fails alone, and is reported", () => {
  causes = [];
  const broken = row(3, "x", { events: [brokenInput("E", "content")] });
  const { record, effects } = writeEvent([eventRow(2, "one"), broken]);
  expect([record["applied_rows"], effects]).toEqual(["a:2c1e", ["created", "error"]]);
  expect(writeEvent([broken]).set).toBe(null);
  expect(causes).toEqual([new RangeError("defect"), new RangeError("defect")]);
});
