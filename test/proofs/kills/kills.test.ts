import { expect, it } from "vitest";
import { runKills } from "./run-kills.ts";

it("keeps every acknowledged write through kill -9, and ends every job with exact counters (npm run prove -- kills)", async () => {
  const run = await runKills(1, 1, 20_261_121);
  expect(run).toMatchObject({ kills: 1, jobs: 1, differences: [] });
  expect(run.acknowledged).toBeGreaterThan(20);
});
