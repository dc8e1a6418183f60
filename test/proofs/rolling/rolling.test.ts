import { expect, it } from "vitest";
import { thisCheckout } from "./checkouts.ts";
import { runRolling } from "./run-rolling.ts";

it("answers as one service when two versions serve its calls at random (npm run prove -- rolling)", async () => {
  const { directory } = thisCheckout();
  const run = await runRolling(directory, directory, { jobs: 1, kills: 0, seed: 20_261_123 });
  expect(run).toMatchObject({ jobs: 3, differences: [] });
  expect(Math.min(run.older, run.newer)).toBeGreaterThan(50);
});
