import { expect, it } from "vitest";
import { runLoadProof } from "./run-load.ts";

it.runIf(process.platform === "linux")(
  "responds to mixed work and to an overload with nothing but what is right and 429 (npm run prove -- load)",
  async () => {
    const seconds = {
      warmUpSeconds: 2,
      loadSeconds: 3,
      overloadSeconds: 3,
      calmSeconds: 1,
      restSeconds: 0,
    };
    const run = await runLoadProof({ connections: 8, ...seconds, seed: 20_261_121 });
    expect(run.wrong).toEqual([]);
    expect(run.load.requests).toBeGreaterThan(0);
    expect(run.overload.statuses["429"]).toBeGreaterThan(0);
    expect(run.neighbour.statuses).not.toHaveProperty("429");
  },
);
