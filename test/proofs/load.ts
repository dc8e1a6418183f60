import type { LoadPhase } from "./load/connections.ts";
import { runLoadProof } from "./load/run-load.ts";

/** Runs for `npm run test:load`. */
const SEED = Number(process.env["LOAD_SEED"] ?? 20_261_121);
const SECONDS = Number(process.env["LOAD_SECONDS"] ?? 60);
const MEMORY_GROWTH_MAX = 1.1;

const print = (name: string, { requests, seconds, statuses, p50, p99 }: LoadPhase): void => {
  const perSecond = Math.round(requests / seconds);
  console.log(`${name}: ${requests} requests, ${perSecond} a second, p50 ${p50} ms, p99 ${p99} ms,`, statuses);
};

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
print("64 connections", load);
print("overload", overload);
print("another organization during it", neighbour);
print("calm", calm);
for (const response of wrong.slice(0, 20)) console.log(JSON.stringify(response));
const growth = memoryAfter / memoryBefore;
const isRight = wrong.length === 0 && growth <= MEMORY_GROWTH_MAX;
process.exitCode = isRight ? 0 : 1;
console.log(
  [
    `requests ${load.requests + overload.requests + neighbour.requests + calm.requests}`,
    `wrong ${wrong.length}`,
    `p99 ${load.p99} ms`,
    `uploads ${uploads}`,
    `limit ${overload.rate}/s, offered ${Math.round(overload.requests / overload.seconds)}/s, admitted ${overload.admitted} of at most ${overload.admittedMax}, failed open ${failedOpen}`,
    `memory ${Math.round(memoryBefore)} MiB before the overload, ${Math.round(memoryAfter)} MiB after it`,
  ].join("; "),
);
