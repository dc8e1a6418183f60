import { expect, it } from "vitest";
import { summaryOf } from "./findings.ts";
import { runFaults } from "./run-faults.ts";

const SEED = 20_261_121;

it(`nothing is lost, duplicated, mislabelled or undone by faults (npm run prove -- faults; FAULTS_SEED=${SEED})`, async () => {
  const { faults, seeds, findings } = await runFaults({ faults: 0, seeds: 2 }, SEED, 2);
  console.info(summaryOf(faults, seeds, findings));
  expect(findings).toEqual([]);
  expect(faults).toBeGreaterThanOrEqual(250);
});
