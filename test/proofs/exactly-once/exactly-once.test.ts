import { describe, expect, it } from "vitest";
import {
  createDeployment,
  expectExact,
  faultsSoFar,
  runWithFaults,
  runWithoutFaults,
  tally,
} from "../../support/uploads/fault-schedule.ts";
import { makeFile, makeMappedFile } from "../../support/uploads/test-file.ts";
import { isWrite, type RequestFault, type StatementFault } from "../../support/uploads/fault-injection.ts";
import { createAttemptFaults } from "../../support/uploads/random-faults.ts";
import { randomFrom } from "../../support/random.ts";

const SEED = Number(process.env["UPLOAD_FAULT_SEED"] ?? 20_261_121);
/** Multiplies the numbers of faults and kills; less than 1 for the slice. */
const TIMES = Number(process.env["UPLOAD_FAULT_TIMES"] ?? 0.375);
const KILLS = 24 * TIMES;
const FAULTS = 1000 * TIMES;
/** `npm run prove -- exactly-once` kills the worker at each write, its slice at every fifth, each test at others. */
const WRITES_PER_KILL = TIMES > 1 ? 1 : 5;
/** Jobs at the same time, since they mostly wait. */
const CONCURRENCY = 8;

const ATTEMPT_RATES = { throttled: 0.01, "lost response": 0.04, damaged: 0.04, outage: 0.004 } as const;

/** Random faults of about one request in eight, and of more statements. */
const faultsFrom = (random: () => number) => ({
  attemptFaults: () => createAttemptFaults(random, ATTEMPT_RATES),
  statementFault: (): StatementFault => {
    const number = random();
    if (number < 0.25) return "throttle";
    return number < 0.4 ? "lose response" : "none";
  },
  faultOf: (command: string): RequestFault => {
    const number = random();
    if (number < 0.035) return number < 0.018 || !isWrite(command) ? "kill before" : "kill after";
    // Checkpoints are interrupted more often than other requests.
    if (number < (command === "UpdateItemCommand" ? 0.06 : 0.04)) {
      return random() < 0.5 ? "stall before" : "stall after";
    }
    if (number < 0.06) return "lose response";
    return number < 0.075 ? "throttle" : "none";
  },
});

const makeTriedFile = (random: () => number, rows: number) => ({ ...makeMappedFile(random, rows), dryRun: true });
const KINDS = [makeFile, makeMappedFile, makeTriedFile];

describe("exactly once", () => {
  it.each([
    ["without a mapping", 120, makeFile, 0],
    ["with a mapping that makes events", 60, makeMappedFile, 1],
    ["in a dry run", 60, makeTriedFile, 2],
  ])(
    "gives the same result if the worker is killed at any write, before or after it, %s",
    async (_, rows, make, at) => {
      const file = make(randomFrom(SEED), rows);
      /** Kills the worker at a write, then in another run at a later one, and so on. @returns at least how many there are */
      const killAtEach = async (kill: "kill before" | "kill after"): Promise<number> => {
        const deployment = await createDeployment();
        const expected = await runWithoutFaults(deployment, file);
        for (let write = at % WRITES_PER_KILL; ; write += WRITES_PER_KILL) {
          let count = 0;
          let hasKilled = false;
          const run = await runWithFaults(deployment, file, {
            random: randomFrom(write),
            disorder: false,
            statementFault: () => "none",
            attemptFaults: () => () => "none",
            faultOf: (command) => {
              if (!isWrite(command) || hasKilled || count++ < write) return "none";
              hasKilled = true;
              return kill;
            },
          });
          expectExact(file, write, run, expected);
          if (!hasKilled) return write;
        }
      };
      for (const writes of await Promise.all([killAtEach("kill before"), killAtEach("kill after")])) {
        expect(writes).toBeGreaterThan(12);
      }
    },
  );

  it(
    `gives the same result with ${FAULTS} faults and ${KILLS} kills (UPLOAD_FAULT_SEED=${SEED})`,
    async () => {
      let next = SEED;
      const runJobs = async (): Promise<void> => {
        const deployment = await createDeployment();
        while (tally.kills < KILLS || faultsSoFar() < FAULTS) {
          const seed = next++;
          const random = randomFrom(seed);
          const file = KINDS[Math.floor(random() * KINDS.length)]!(random, 300 + Math.floor(random() * 600));
          const run = await runWithFaults(deployment, file, { random, disorder: true, ...faultsFrom(random) });
          expectExact(file, seed, run, await runWithoutFaults(deployment, file));
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, runJobs));
      console.info("injected", tally);
      expect(tally.kills).toBeGreaterThanOrEqual(KILLS);
      expect(faultsSoFar()).toBeGreaterThanOrEqual(FAULTS);
    },
    600_000 * Math.max(1, TIMES),
  );
});
