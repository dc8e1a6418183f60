import { beforeAll, describe, expect, it } from "vitest";
import { workItemId } from "../../../../lib/identity.ts";
import { emptyPerson } from "../../../../apps/operator/data/empty-person.ts";
import { exportOrganization } from "../../../../apps/operator/data/export-organization.ts";
import { importOrganization } from "../../../../apps/operator/data/import-organization.ts";
import { PersonAddress } from "../../../../apps/operator/data/person-address.ts";
import { stopAtDamaged } from "../../../../lib/store/decode-record.ts";
import { createRecordStore } from "../../../../lib/store/record-store.ts";
import { createApplyWorkItems } from "../../../../lib/work-items/apply-work-items.ts";
import { planApply } from "../../../../lib/work-items/plan-apply.ts";
import { afterImport, NO_LAYERS, storedLayersOfMade, toStoredLayers } from "../../../../lib/work-items/undo/layers.ts";
import type { WorkItemInput } from "../../../../lib/work-items/work-item.ts";
import { eventKeyOf, itemKeyOf } from "../../../../lib/work-items/work-item-record.ts";
import { injectFaults } from "../../../support/faults.ts";
import { createTestService } from "../../../support/service.ts";

let service: Awaited<ReturnType<typeof createTestService>>;
beforeAll(async () => {
  service = await createTestService();
});

type Input = Omit<WorkItemInput, "external_id">;
interface Layers {
  readonly layers?: readonly (readonly [job: string, at: number, fields: object])[];
  readonly dropped_until?: number;
}
const START = Date.now();
const atOf = (job: string) => START + Number(job.slice(1));
const idOf = (name: string) => workItemId(service.organization.id, name);
const ofItem = async (name: string): Promise<Layers | undefined> => {
  const record = await createRecordStore(service.runtime).readOne(itemKeyOf(service.organization.id, name));
  const undo = record?.["undo"];
  return typeof undo === "string" ? (JSON.parse(undo) as Layers) : undefined;
};
/** What each layer of an item says, by job. */
const fieldsOf = async (name: string) => (await ofItem(name))?.layers?.map(([job, , fields]) => [job, fields]);

const apply = async (name: string, input: Input, job?: string) => {
  const source = job !== undefined && {
    source: { job, createdAt: atOf(job), firstRow: 2, dryRun: false, findEnded: async () => new Set<string>() },
  };
  const inputs = [{ input: { external_id: name, ...input }, ...(source && { row: 2 }) }];
  const deadline = Date.now() + 20_000;
  const [result] = await createApplyWorkItems(service.runtime)(service.organization, inputs, { deadline, ...source });
  return result;
};
const send = (name: string, event: object) =>
  service.call("upsertWorkItemEvent", { params: { id: idOf(name) }, body: { event } });

it("an item that an import makes needs nothing but the import", async () => {
  const input = { type: "call", custom_attributes: { a: 1 } };
  await apply("made", input, "j1");
  expect(await ofItem("made")).toEqual({ layers: [["j1", atOf("j1"), { deleted_at: [] }]] });
  const plan = planApply(null, "made", input, new Date().toISOString());
  if (plan.outcome === "error") throw new Error();
  const job = { id: "j1", createdAt: Date.now() };
  const layers = afterImport(NO_LAYERS, null, plan.next, job);
  expect(storedLayersOfMade(job)).toBe(toStoredLayers(layers, plan.next, Date.now()));
});

describe("an event of an item that an import made", () => {
  it("is written together with the item, which no undo then deletes", async () => {
    await apply("used", { type: "call" }, "j1");
    const { version } = (await createRecordStore(service.runtime).readOne(itemKeyOf(service.organization.id, "used")))!;
    await send("used", { external_id: "e" });
    expect(await fieldsOf("used")).toEqual([["j1", { deleted_at: null, events: null }]]);
    await send("used", { external_id: "f" });
    const after = await createRecordStore(service.runtime).readOne(itemKeyOf(service.organization.id, "used"));
    expect(after).toMatchObject({ version: version + 1 });
  });

  it("is written once, and all others are, however many come at once", async () => {
    await apply("crowded", {}, "j1");
    await Promise.all(Array.from({ length: 8 }, (_, index) => send("crowded", { external_id: `single ${index}` })));
    await apply("crowded too", {}, "j1");
    const events = Array.from({ length: 20 }, (_, index) => ({ external_id: `e${index}` }));
    expect(await apply("crowded too", { events })).toMatchObject({ outcome: "updated", error: null });
    for (const [name, count] of [
      ["crowded", 8],
      ["crowded too", 20],
    ] as const) {
      expect(await fieldsOf(name)).toEqual([["j1", { deleted_at: null, events: null }]]);
      const { data } = (await service.call("getWorkItem", { params: { id: idOf(name) } })).body;
      expect(data.events).toHaveLength(count);
    }
  });

  it("isn't written if the item is deleted in between, which its batch says", async () => {
    await apply("orphaned", { type: "call" }, "j1");
    let deletions = 0;
    const stop = injectFaults(service.runtime.dynamodb, async (command) => {
      if (command === "TransactWriteItemsCommand" && deletions++ === 0) {
        await service.call("deleteWorkItem", { params: { id: idOf("orphaned") } });
      }
      return "none" as const;
    });
    const result = await apply("orphaned", { events: [{ external_id: "e" }] });
    stop();
    expect(deletions).toBe(1);
    const message = "the work item was deleted meanwhile; send it again";
    expect(result).toMatchObject({ outcome: "error", error: { permanent: false, problem: { message } } });
    expect(
      await createRecordStore(service.runtime).readOne(eventKeyOf(service.organization.id, idOf("orphaned"), "e")),
    ).toBe(undefined);
  });
});

describe("operators", () => {
  it("drop what would bring an erased person back", async () => {
    const { runtime, organization } = service;
    await apply("of Ann", { agent_email: "ann@example.com" });
    await apply("of Ann", { agent_email: "bob@example.com" }, "j1");
    const person = new PersonAddress("Ann@example.com");
    const found = [(await createRecordStore(runtime).readOne(itemKeyOf(organization.id, "of Ann")))!];
    expect(found.map((record) => person.isPersonOf(record))).toEqual([true]);
    const emptied = await emptyPerson(runtime, person, found, false, stopAtDamaged);
    expect(emptied).toEqual({ items: 1, events: 0 });
    expect(await ofItem("of Ann")).toEqual({ dropped_until: atOf("j1") });
    const { data } = (await service.call("getWorkItem", { params: { id: idOf("of Ann") } })).body;
    expect(data.agent.email).toBe("bob@example.com");
  });

  it("take what an export replaces out of the reach of undos", async () => {
    const { runtime, organization } = service;
    await apply("replaced", { type: "call" }, "j1");
    let text = "";
    await exportOrganization(runtime, organization.id, async (chunk) => {
      text += chunk;
    });
    expect(text).not.toContain('"undo');
    const lines = async function* () {
      yield* text.trimEnd().split("\n");
    };
    await Array.fromAsync(importOrganization(runtime, organization.id, lines(), { existing: "replace" }));
    expect(await ofItem("replaced")).toEqual({ dropped_until: atOf("j1") });
  });
});
