import { expect, it } from "vitest";
import { runChanges, summaryOf } from "./run-changes.ts";

const SEED = 20_261_123;

it(`copies kept by the feed equal the table, whatever fails (npm run prove -- changes; CHANGES_SEED=${SEED})`, async () => {
  const run = await runChanges({ faults: 0, seeds: 2 }, SEED, 2);
  console.info(summaryOf(run));
  expect(run.findings).toEqual([]);
  expect(run.faults).toBeGreaterThanOrEqual(200);
});
