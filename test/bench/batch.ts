import { create as createApplyWorkItemBatch } from "../../functions/apply-work-item-batch.ts";
import { compareCpu } from "./cpu.ts";
import { meterDynamoDb } from "./dynamodb-meter.ts";
import { createFloors } from "./floors.ts";
import { itemOf } from "./items.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { createBenchService, withEngines } from "./service.ts";

const { atMost, exactly } = rowsOf("batch");
const ITEMS = 100;
const CALLS = 20;

const measureBatches = async (): Promise<BenchRow[]> => {
  const { runtime, prepare } = await createBenchService();
  const floors = createFloors(runtime);
  const meter = meterDynamoDb(runtime);
  const applyBatch = createApplyWorkItemBatch(runtime);
  const indexes = Array.from({ length: ITEMS }, (_, index) => index);
  const batch = (prefix: string, change: object = {}) =>
    prepare(applyBatch, {
      method: "POST",
      resource: "/v1/work_items/batch",
      body: { work_items: indexes.map((index) => ({ ...itemOf(prefix, index), ...change })) },
    });
  /** Fails unless every item has the outcome. */
  const expecting = (outcome: string, call: () => Promise<string>) => async (): Promise<void> => {
    const { data } = JSON.parse(await call()) as { data: { summary: Record<string, number> } };
    if (data.summary[outcome] !== ITEMS) throw new Error(`not all were ${outcome}: ${JSON.stringify(data.summary)}`);
  };

  let count = 0;
  await expecting("created", batch("kept"))();
  await floors.insert("kept")();

  const createUse = await meter(expecting("created", batch("created")));
  const updateUse = await meter(expecting("updated", batch("kept", { agent_name: "Ann" })));
  const sameUse = await meter(expecting("unchanged", batch("kept", { agent_name: "Ann" })));

  const change = (): object => ({ agent_name: `Agent ${count++}` });
  const update = await compareCpu(
    {
      ours: () => expecting("updated", batch("kept", change()))(),
      floor: () => floors.update("kept")(),
    },
    { calls: CALLS },
  );
  const last = { agent_name: "Bob" };
  await batch("kept", last)();
  const same = batch("kept", last);
  const read = floors.readBatch("kept");
  const unchanged = await compareCpu({ ours: expecting("unchanged", same), floor: read }, { calls: CALLS });
  return [
    exactly("requests of a batch of 100 created", createUse.requests, "requests", 5),
    exactly("requests of a batch of 100 changed", updateUse.requests, "requests", 5),
    exactly("requests of a batch of 100 unchanged", sameUse.requests, "requests", 1),
    exactly("write units of a batch of 100 unchanged", sameUse.writeUnits, "units", 0),
    atMost("CPU of a batch of 100 changed", update.ours, "ms", 1.5, update.floor, "the same five bare calls"),
    atMost("CPU of a batch of 100 unchanged", unchanged.ours, "ms", 1.5, unchanged.floor, "the bare read"),
  ];
};

/** Requests, units and CPU of batches of 100. */
export const measure = (): Promise<BenchRow[]> => withEngines(measureBatches);
