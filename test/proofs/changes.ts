import { startEngines } from "../support/engines.ts";
import { runChanges, summaryOf } from "./changes/run-changes.ts";

/** Runs for `npm run prove -- changes`. */
const SEED = Number(process.env["CHANGES_SEED"] ?? 20_261_123);
const SEEDS = Number(process.env["CHANGES_SEEDS"] ?? 200);
const FAULTS = Number(process.env["CHANGES_FAULTS"] ?? 100_000);
/** Seeds at the same time, since they mostly wait. */
const LANES = Math.min(20, SEEDS);
const FINDINGS_SHOWN_MAX = 20;

let shown = 0;
const stop = await startEngines();
try {
  const run = await runChanges({ faults: FAULTS, seeds: SEEDS }, SEED, LANES, (sofar) => {
    for (const { kind, seed, details } of sofar.findings.slice(shown, FINDINGS_SHOWN_MAX)) {
      console.log(`${kind}, CHANGES_SEED=${seed}: ${details}`);
    }
    shown = sofar.findings.length;
    if (sofar.seeds % 25 === 0) console.log(`… ${summaryOf(sofar)}`);
  });
  process.exitCode = run.findings.length === 0 ? 0 : 1;
  console.log(summaryOf(run));
} finally {
  await stop();
}
