import { startEngines } from "../support/engines.ts";
import { summaryOf } from "./faults/findings.ts";
import { runFaults } from "./faults/run-faults.ts";

/** Runs for `npm run prove -- faults`. */
const SEED = Number(process.env["FAULTS_SEED"] ?? 20_261_121);
const SEEDS = Number(process.env["FAULTS_SEEDS"] ?? 300);
const FAULTS = Number(process.env["FAULTS"] ?? 150_000);
/** Seeds at the same time, since they mostly wait. With many more, calls take so long that middy's timer ends them. */
const LANES = Math.min(16, SEEDS);
const FINDINGS_SHOWN_MAX = 20;

let shown = 0;
const stop = await startEngines();
try {
  const { faults, damaged, seeds, findings } = await runFaults({ faults: FAULTS, seeds: SEEDS }, SEED, LANES, (run) => {
    for (const { kind, seed, details } of run.findings.slice(shown, FINDINGS_SHOWN_MAX)) {
      console.log(`${kind}, FAULTS_SEED=${seed}: ${details}`);
    }
    shown = run.findings.length;
    if (run.seeds % 25 === 0) console.log(`… ${summaryOf(run.faults, run.seeds, run.findings)}`);
  });
  process.exitCode = findings.length === 0 ? 0 : 1;
  console.log(`of ${faults} faults, ${damaged} were damaged responses (HTML, empty, truncated, cut or wrong checksum)`);
  console.log(summaryOf(faults, seeds, findings));
} finally {
  await stop();
}
