import { setTimeout as sleep } from "node:timers/promises";
import { create as createGetWorkItem } from "../../functions/get-work-item.ts";
import { workItemId } from "../../lib/identity.ts";
import { compareCpu } from "./cpu.ts";
import { meterDynamoDb } from "./dynamodb-meter.ts";
import { withEngines } from "./engines.ts";
import { createFloors } from "./floors.ts";
import { createElectroDbPeer } from "./electrodb-peer.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { createBenchService } from "./service.ts";
import { itemOf } from "./uploads-data.ts";

const { atMost, beside, exactly, within } = rowsOf("read");
const CALLS = 300;
const CALLS_PER_SECOND = 100;
const SECONDS = 5;

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

/** Calls at a steady rate, whenever the calls before respond. */
const callFor = async (seconds: number, call: () => Promise<unknown>): Promise<void> => {
  const start = performance.now();
  const calls: Promise<unknown>[] = [];
  for (let count = 0; count < seconds * CALLS_PER_SECOND; count++) {
    await sleep(Math.max(0, start + (count * 1000) / CALLS_PER_SECOND - performance.now()));
    calls.push(call());
  }
  await Promise.all(calls);
};

/** What a call costs beside its own requests, in a warm instance of an organization that uses half of its limit. */
const measureEdge = async (): Promise<BenchRow[]> => {
  const limits = { rate: 2 * CALLS_PER_SECOND, burst: 4 * CALLS_PER_SECOND };
  const { runtime, organization, prepare, fill } = await createBenchService(limits);
  await fill(1, (index) => itemOf("kept", index));
  const params = { id: workItemId(organization.id, itemOf("kept", 0).external_id) };
  const get = prepare(createGetWorkItem(runtime), { resource: "/v1/work_items/{id}", params });
  await callFor(1, get);
  const meterAccess = meterDynamoDb(runtime, "ACCESS_TABLE");
  const meterLimits = meterDynamoDb(runtime, "LIMITS_TABLE");
  let limited = 0;
  const access = await meterAccess(async () => {
    limited = (await meterLimits(() => callFor(SECONDS, get))).requests;
  });
  return [
    exactly("requests for key and organization, warm", access.requests, "requests", 0),
    within(
      `requests of the limiter for a call, at ${CALLS_PER_SECOND} a second`,
      limited / SECONDS / CALLS_PER_SECOND,
      "requests",
      0.1,
    ),
  ];
};

/** Requests and CPU of reading one item, and requests of what is before every endpoint. */
export const measure = (): Promise<BenchRow[]> =>
  withEngines(async () => [...(await measureReads()), ...(await measureEdge())]);
