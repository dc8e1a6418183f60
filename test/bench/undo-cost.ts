import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { fileURLToPath } from "node:url";
import mapping from "../../infra/cli/demo/tickets.mapping.json" with { type: "json" };
import { readItems } from "../../infra/cli/work-items/read-items.ts";
import type { Organization } from "../../lib/organizations/organization.ts";
import { createRecordStore } from "../../lib/store/record-store.ts";
import { mappingSchema } from "../../lib/uploads/mapping/mapping.ts";
import { createApplyWorkItems } from "../../lib/work-items/apply-work-items.ts";
import type { WorkItemInput } from "../../lib/work-items/work-item.ts";
import { itemKeyOf } from "../../lib/work-items/work-item-record.ts";
import type { TestRuntime } from "../support/runtime.ts";
import { isForItems, meterDynamoDb } from "./dynamodb-meter.ts";
import { type BenchRow, rowsOf } from "./row.ts";

const { fact } = rowsOf("cost");
const TICKETS = fileURLToPath(new URL("../../infra/cli/demo/tickets.csv", import.meta.url));
const KIB = 1024;

/** Items of the demo, and some whose attributes are large. */
async function kindsOfItems(): Promise<Readonly<Record<string, readonly WorkItemInput[]>>> {
  const tickets = await readItems(createReadStream(TICKETS), mappingSchema.parse(mapping));
  const large = (kib: number): WorkItemInput[] => [
    { external_id: `${kib} KiB`, custom_attributes: { text: "x".repeat(kib * KIB), team: "south" } },
  ];
  return {
    "of the demo": tickets.map((ticket) => ({ ...ticket, events: [] })),
    "with 1 KiB": large(1),
    "with 10 KiB": large(10),
    "with 250 KiB": large(250),
  };
}

/** What layers cost: write units of the same write with and without them, and their bytes. */
export const measureLayers = async (runtime: TestRuntime, organization: Organization): Promise<BenchRow[]> => {
  const meter = meterDynamoDb(runtime, "WORK_ITEMS_TABLE", isForItems);
  const applyItems = createApplyWorkItems(runtime);
  const store = createRecordStore(runtime);
  const findEnded = () => Promise.resolve(new Set<string>());
  const newImport = () => ({ source: { job: randomUUID(), createdAt: Date.now(), firstRow: 2, findEnded } });
  const rows: BenchRow[] = [];
  for (const [kind, items] of Object.entries(await kindsOfItems())) {
    const measure = async (what: string, inputs: readonly WorkItemInput[], isImport: boolean): Promise<void> => {
      const options = { deadline: Date.now() + 60_000, ...(isImport && newImport()) };
      const all = inputs.map((input, index) => ({ input, ...(isImport && { row: index + 2 }) }));
      const { writeUnits } = await meter(async () => {
        for (const result of await applyItems(organization, all, options)) if (result.error) throw new Error(what);
      });
      const records = await store.read(inputs.map(({ external_id: id }) => itemKeyOf(organization.id, id)));
      const bytes = [...records.values()].reduce(
        (sum, { undo }) => sum + (typeof undo === "string" ? undo.length : 0),
        0,
      );
      rows.push(fact(`item ${kind}, ${what}`, writeUnits / inputs.length, "write units an item"));
      if (bytes > 0) rows.push(fact(`item ${kind}, ${what}`, bytes / inputs.length, "bytes of layers an item"));
    };
    const named = (prefix: string, change: Partial<WorkItemInput> = {}) =>
      items.map((item) => ({ ...item, ...change, external_id: `${prefix} ${item.external_id}` }));
    const onlyEvent = (prefix: string, event: string) =>
      items.map(({ external_id: id }) => ({ external_id: `${prefix} ${id}`, events: [{ external_id: event }] }));
    await measure("created by batch", named("batch"), false);
    await measure("created by an import", named("import"), true);
    await measure("updated by batch", named("batch", { agent_name: "Ann" }), false);
    await measure("event posted", onlyEvent("batch", "first"), false);
    await measure("event posted to an imported one", onlyEvent("import", "first"), false);
    await measure("the next event posted to it", onlyEvent("import", "second"), false);
    await measure("updated by an import", named("batch", { agent_name: "Bob" }), true);
    const [{ custom_attributes: attributes = {} } = {}] = items;
    const others = Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [name, `y${JSON.stringify(value)}`.slice(0, -2)]),
    );
    await measure("all attributes updated by an import", named("batch", { custom_attributes: others }), true);
  }
  return rows;
};
