import type { LoadPhase } from "../proofs/load/connections.ts";
import { runLoadProof } from "../proofs/load/run-load.ts";
import { type BenchRow, rowsOf } from "./row.ts";

const { atMost, exactly, fact, within } = rowsOf("load");
const SEED = Number(process.env["LOAD_SEED"] ?? 20_261_121);
const SECONDS = Number(process.env["LOAD_SECONDS"] ?? 60);
const MEMORY_GROWTH_MAX = 1.1;
const WRONG_SHOWN_MAX = 20;

const rowsOfPhase = (name: string, { requests, seconds, p50, p99 }: LoadPhase): BenchRow[] => [
  fact(`${name}: requests`, requests, ""),
  fact(`${name}: rate`, requests / seconds, "/s"),
  fact(`${name}: p50`, p50, "ms"),
  fact(`${name}: p99`, p99, "ms"),
];

/** Mixed work over 64 connections, an overload beside another organization, and little to do. It takes four minutes. */
export async function measure(): Promise<BenchRow[]> {
  const run = await runLoadProof({
    connections: 64,
    warmUpSeconds: SECONDS,
    loadSeconds: SECONDS,
    overloadSeconds: SECONDS / 2,
    calmSeconds: 5,
    restSeconds: 15,
    seed: SEED,
  });
  const { load, overload, neighbour, calm, uploads, failedOpen, memoryBefore, memoryAfter, wrong } = run;
  for (const response of wrong.slice(0, WRONG_SHOWN_MAX)) console.error(JSON.stringify(response));
  return [
    ...rowsOfPhase("64 connections", load),
    ...rowsOfPhase("overload", overload),
    ...rowsOfPhase("another organization during it", neighbour),
    ...rowsOfPhase("calm", calm),
    exactly("wrong responses", wrong.length, "", 0),
    fact("uploads", uploads, ""),
    fact("limit", overload.rate, "/s"),
    within("admitted by it", overload.admitted - failedOpen, "", overload.admittedMax),
    fact("admitted as it failed open", failedOpen, ""),
    atMost("memory after the overload", memoryAfter, "MiB", MEMORY_GROWTH_MAX, memoryBefore, "before it"),
  ];
}
