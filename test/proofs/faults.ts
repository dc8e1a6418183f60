import { startEngines } from "../support/engines.ts";
import { summaryOf } from "./faults/findings.ts";
import { runFaults } from "./faults/run-faults.ts";

/** Runs for `npm run test:faults`. */
const SEED = Number(process.env["FAULTS_SEED"] ?? 20_261_121);
const SEEDS = Number(process.env["FAULTS_SEEDS"] ?? 300);
const FAULTS = Number(process.env["FAULTS"] ?? 150_000);
/** Seeds at the same time, since they mostly wait. */
const LANES = Math.min(40, SEEDS);
const FINDINGS_SHOWN_MAX = 20;

const stop = await startEngines();
try {
  const { faults, damaged, seeds, findings } = await runFaults({ faults: FAULTS, seeds: SEEDS }, SEED, LANES, (run) => {
    if (run.seeds % 25 === 0) console.log(`… ${summaryOf(run.faults, run.seeds, run.findings)}`);
  });
  for (const { kind, seed, details } of findings.slice(0, FINDINGS_SHOWN_MAX)) {
    console.log(`${kind}, FAULTS_SEED=${seed}: ${details}`);
  }
  process.exitCode = findings.length === 0 ? 0 : 1;
  console.log(`of ${faults} faults, ${damaged} were damaged responses (HTML, empty, truncated, cut or wrong checksum)`);
  console.log(summaryOf(faults, seeds, findings));
} finally {
  await stop();
}
