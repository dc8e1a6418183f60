import { beforeEach, expect, it } from "vitest";
import { workItemId } from "../../../../lib/identity.ts";
import { createApplyWorkItems } from "../../../../lib/work-items/apply-work-items.ts";
import { createUndoWorkItems, type UndoOptions } from "../../../../lib/work-items/undo/undo-work-items.ts";
import { eventKeyOf } from "../../../../lib/work-items/work-item-record.ts";
import { overwrite } from "../../../support/customer-data.ts";
import { createTestService } from "../../../support/service.ts";

const IMPORT = { id: "import", createdAt: Date.now() };
const noneEnded = () => Promise.resolve(new Set<string>());

let service: Awaited<ReturnType<typeof createTestService>>;
let undo: (
  inputs: Parameters<ReturnType<typeof createUndoWorkItems>>[1],
  options?: Partial<UndoOptions>,
) => Promise<Awaited<ReturnType<ReturnType<typeof createUndoWorkItems>>>>;
/** An import makes the item `a` with two events. */
beforeEach(async () => {
  service = await createTestService();
  const { organization, runtime } = service;
  const source = { job: IMPORT.id, createdAt: IMPORT.createdAt, firstRow: 2, findEnded: noneEnded };
  const rows = ["e", "f"].map((event, index) => ({
    row: index + 2,
    input: { external_id: "a", type: "imported", events: [{ external_id: event, content: "x" }] },
  }));
  await createApplyWorkItems(runtime)(organization, rows, { source, deadline: Infinity });
  const undoItems = createUndoWorkItems(runtime);
  undo = (inputs, options = {}) =>
    undoItems(organization, inputs, {
      undone: IMPORT,
      hasEvents: true,
      source: { job: "undo", findEnded: noneEnded },
      deadline: Infinity,
      ...options,
    });
});
const FIRST = { externalId: "a", events: ["e"] };
const SECOND = { externalId: "a", events: ["f"] };

it("an item is undone after all of its events that the import has changed, not only that of the row", async () => {
  const { organization, call } = service;
  const params = { id: workItemId(organization.id, "a") };
  await call("applyWorkItemBatch", { body: { work_items: [{ external_id: "a", agent_name: "Ann" }] } });
  expect(await undo([FIRST])).toMatchObject([{ outcome: "partly", reason: "in_use" }]);
  const { events } = (await call("getWorkItem", { params })).body.data;
  expect(events.map(({ deleted_at }) => deleted_at !== undefined)).toEqual([true, true]);
});

it("a row is recognized once all of it is undone, and not while a part of it is left", async () => {
  let calls = 0;
  const dies = async (): Promise<void> => {
    calls += 1;
    // The third one is before the item: its events are undone.
    if (calls === 3) throw new Error("dead");
  };
  await expect(undo([FIRST], { guard: dies })).rejects.toThrow("dead");
  expect(await undo([FIRST], { dryRun: true })).toMatchObject([{ recognized: false }]);
  expect(await undo([FIRST])).toMatchObject([{ outcome: "deleted" }]);
  const unknown = { ...SECOND, events: ["f", "unknown"] };
  expect(await undo([FIRST, unknown], { dryRun: true })).toMatchObject([
    { outcome: "deleted", recognized: true, isTemporary: false },
    { outcome: "deleted", recognized: true, isTemporary: false },
  ]);
});

it("an item without time for its events stays as it is, and may be undone later", async () => {
  const nothing = { reason: undefined, kept: [], changes: { fields: [] } };
  const error = { outcome: "error", ...nothing, recognized: false, isTemporary: true };
  const id = workItemId(service.organization.id, "a");
  expect(await undo([FIRST], { deadline: 0 })).toEqual([{ id, ...error }]);
  expect(await undo([FIRST])).toMatchObject([{ outcome: "deleted", recognized: false }]);
});

it("an item with an event that can't be read stays as it is, and its row fails for good", async () => {
  const { organization, runtime, call } = service;
  const id = workItemId(organization.id, "a");
  await overwrite(runtime, "WORK_ITEMS_TABLE", eventKeyOf(organization.id, id, "e"), "undo", "import, damaged");
  expect(await undo([FIRST])).toMatchObject([{ outcome: "error", isTemporary: false }]);
  expect((await call("listWorkItems")).body.data).toMatchObject([{ id }]);
});

it("another undo of the same import finds nothing to do", async () => {
  await undo([FIRST]);
  const source = { job: "undo-2", findEnded: noneEnded };
  expect(await undo([FIRST, SECOND], { source })).toMatchObject([{ outcome: "unchanged" }, { outcome: "unchanged" }]);
});

it("three undos at once each find again what they have done, and what they have kept", async () => {
  const { organization, runtime, call } = service;
  await call("applyWorkItemBatch", { body: { work_items: [{ external_id: "b" }] } });
  const jobs = ["type", "agent_name", "agent_external_id"].map((field, index) => {
    return { field, undone: { id: `import-${index}`, createdAt: IMPORT.createdAt + index } };
  });
  for (const { field, undone } of jobs) {
    const source = { job: undone.id, createdAt: undone.createdAt, firstRow: 2, findEnded: noneEnded };
    const rows = [{ row: 2, input: { external_id: "b", [field]: "imported" } }];
    await createApplyWorkItems(runtime)(organization, rows, { source, deadline: Infinity });
  }
  const input = { external_id: "b", type: "mine", agent_name: "mine", agent_external_id: "mine" };
  await call("applyWorkItemBatch", { body: { work_items: [input] } });
  const undoAll = (dryRun: boolean) =>
    Promise.all(
      jobs.map(({ undone }) => {
        const source = { job: `undo-of-${undone.id}`, findEnded: noneEnded };
        return undo([{ externalId: "b", events: [] }], { undone, source, dryRun, hasEvents: false });
      }),
    );
  const done = await undoAll(false);
  expect(done).toMatchObject(
    jobs.map(({ field }) => [{ outcome: "kept", reason: "changed", kept: [{ name: field, now: "mine" }] }]),
  );
  expect(await undoAll(true)).toEqual(done.map(([result]) => [{ ...result, recognized: true }]));
});
