import { create as createGetWorkItem } from "../../functions/get-work-item.ts";
import { workItemId } from "../../lib/identity.ts";
import { compareCpu } from "./cpu.ts";
import { meterDynamoDb } from "./dynamodb-meter.ts";
import { withEngines } from "./engines.ts";
import { createFloors } from "./floors.ts";
import { createElectroDbPeer } from "./peers/electrodb.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { createBenchService } from "./service.ts";
import { itemOf } from "./uploads-data.ts";

const { atMost, beside, exactly } = rowsOf("read");
const CALLS = 300;

const measureReads = async (): Promise<BenchRow[]> => {
  const { runtime, organization, prepare, fill } = await createBenchService();
  const floors = await createFloors();
  const peer = await createElectroDbPeer();
  const meter = meterDynamoDb(runtime);
  await fill(1, (index) => itemOf("kept", index));
  await floors.insert("kept")();
  await peer.create("kept", 0);
  const params = { id: workItemId(organization.id, itemOf("kept", 0).external_id) };
  const get = prepare(createGetWorkItem(runtime), { resource: "/v1/work_items/{id}", params });
  await get();
  const use = await meter(get);
  const cpu = await compareCpu(
    { ours: get, floor: floors.get("kept"), peer: () => peer.get("kept", 0) },
    { calls: CALLS },
  );
  return [
    exactly("requests of a get", use.requests, "requests", 1),
    atMost("CPU of a get", cpu.ours, "ms", 1.5, cpu.floor, "the bare Query"),
    beside("the same beside ElectroDB", cpu.ours, "ms", cpu.peer),
  ];
};

/** Requests and CPU of reading one item. */
export const measure = (): Promise<BenchRow[]> => withEngines(measureReads);
