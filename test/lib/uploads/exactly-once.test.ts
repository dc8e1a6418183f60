import { describe, expect, it } from "vitest";
import {
  createWorld,
  expectExact,
  faultsSoFar,
  makeFile,
  runCleanly,
  runThrough,
  tally,
} from "../../support/uploads/fault-schedule.ts";
import { isWrite, randomFrom, type RequestFault, type StatementFault } from "../../support/uploads/fault-injection.ts";

const SEED = Number(process.env["UPLOAD_FAULT_SEED"] ?? 20_261_121);
/** How many times as many faults as the suite asks for. */
const TIMES = Number(process.env["UPLOAD_FAULT_TIMES"] ?? 1);
const KILLS = 500 * TIMES;
const FAULTS = 20_000 * TIMES;
/** Jobs at once: their waiting overlaps. */
const CONCURRENCY = 8;

const stormOn = (random: () => number) => ({
  statementFault: (): StatementFault => {
    const at = random();
    if (at < 0.25) return "throttle";
    return at < 0.4 ? "lose" : "none";
  },
  faultOf: (command: string): RequestFault => {
    const at = random();
    if (at < 0.035) return at < 0.018 || !isWrite(command) ? "kill before" : "kill after";
    // Most of all before and after checkpoints.
    if (at < (command === "UpdateItemCommand" ? 0.06 : 0.04)) return random() < 0.5 ? "stall before" : "stall after";
    if (at < 0.08) return "deep lose";
    if (at < 0.09) return "deep throttle";
    if (at < 0.11) return "lose";
    return at < 0.125 ? "throttle" : "none";
  },
});

describe("exactly once", () => {
  it("leaves what a clean run leaves when the worker is killed at any write, before or after it is carried out", async () => {
    const world = await createWorld();
    const file = makeFile(randomFrom(SEED), 200);
    const clean = await runCleanly(world, file);
    let write = 0;
    for (let hasKilled = true; hasKilled; write++) {
      for (const kill of ["kill before", "kill after"] as const) {
        let count = 0;
        hasKilled = false;
        const run = await runThrough(world, file, {
          random: randomFrom(write),
          disorder: false,
          statementFault: () => "none",
          faultOf: (command) => {
            if (!isWrite(command) || hasKilled || count++ < write) return "none";
            hasKilled = true;
            return kill;
          },
        });
        expectExact(file, write, run, clean);
      }
    }
    expect(write).toBeGreaterThan(20);
  }, 120_000);

  it(
    `leaves what a clean run leaves through ${FAULTS} faults and ${KILLS} kills (UPLOAD_FAULT_SEED=${SEED})`,
    async () => {
      let next = SEED;
      const keepGoing = async (): Promise<void> => {
        const world = await createWorld();
        while (tally.kills < KILLS || faultsSoFar() < FAULTS) {
          const seed = next++;
          const random = randomFrom(seed);
          const file = makeFile(random, 300 + Math.floor(random() * 600));
          const run = await runThrough(world, file, { random, disorder: true, ...stormOn(random) });
          expectExact(file, seed, run, await runCleanly(world, file));
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, keepGoing));
      console.info("injected", tally);
      expect(tally.kills).toBeGreaterThanOrEqual(KILLS);
      expect(faultsSoFar()).toBeGreaterThanOrEqual(FAULTS);
    },
    600_000 * Math.max(1, TIMES),
  );
});
