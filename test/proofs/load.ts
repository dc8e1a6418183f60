import { runLoadProof } from "./load/run-load.ts";

/** Runs for `npm run prove -- load`: mixed work, an overload beside another organization, and little to do. It takes four minutes. */
const SEED = Number(process.env["LOAD_SEED"] ?? 20_261_121);
const SECONDS = Number(process.env["LOAD_SECONDS"] ?? 60);
const MEMORY_GROWTH_MAX = 1.1;
const WRONG_SHOWN_MAX = 20;

const { load, overload, uploads, failedOpen, memoryBefore, memoryAfter, wrong } = await runLoadProof({
  connections: 64,
  warmUpSeconds: SECONDS,
  loadSeconds: SECONDS,
  overloadSeconds: SECONDS / 2,
  calmSeconds: 5,
  restSeconds: 15,
  seed: SEED,
});
for (const response of wrong.slice(0, WRONG_SHOWN_MAX)) console.log(JSON.stringify(response));
const isLimited = overload.admitted - failedOpen <= overload.admittedMax;
const isFreed = memoryAfter <= MEMORY_GROWTH_MAX * memoryBefore;
console.log(
  [
    `requests ${load.requests}`,
    `wrong ${wrong.length}`,
    `p99 ${load.p99.toFixed()} ms`,
    `uploads ${uploads}`,
    `limit ${overload.rate}/s, offered ${(overload.requests / overload.seconds).toFixed()}/s, admitted ${overload.admitted} of at most ${overload.admittedMax}, failed open ${failedOpen}`,
    `memory ${memoryBefore.toFixed()} MiB before the overload, ${memoryAfter.toFixed()} MiB after it`,
  ].join("; "),
);
process.exitCode = wrong.length === 0 && isLimited && isFreed ? 0 : 1;
