import type { TestClock } from "../../support/clock.ts";
import type { TaskFaults } from "../../support/faulty-tasks.ts";
import type { RequestFault } from "../../support/uploads/fault-injection.ts";

/** Share of tasks without faults. */
const SPARED_SHARE = 0.5;

/** Shares of requests that have a fault, of those that may. */
const SHARES: readonly (readonly [RequestFault, number])[] = [
  ["throttle", 0.05],
  ["lose response", 0.05],
  ["stall before", 0.04],
  ["stall after", 0.04],
  ["kill before", 0.02],
  ["kill after", 0.02],
];

/** Chooses the faults of tasks until `end`. They share one clock, which a proof controls. */
export function createTaskFaults(clock: TestClock, random: () => number) {
  let faults = 0;
  let isCalm = false;
  const count = (): void => void (faults += 1);

  const choose = (isSpared: boolean): RequestFault => {
    let left = isCalm || isSpared ? 1 : random();
    for (const [fault, share] of SHARES) {
      left -= share;
      if (left < 0) return fault;
    }
    return "none";
  };

  return {
    faults: () => faults,
    count,
    end: (): void => void (isCalm = true),
    of: (lifetimeMs: number): TaskFaults => {
      const killedAt = clock() + lifetimeMs;
      // A task of many requests would never end if each of them could have a fault.
      const isSpared = random() < SPARED_SHARE;
      return {
        faultOf: () => {
          const fault = choose(isSpared);
          if (fault !== "none") count();
          return fault;
        },
        statementFault: () => {
          const fault = isCalm || isSpared ? 1 : random();
          if (fault < 0.1) count();
          return fault < 0.05 ? "throttle" : fault < 0.1 ? "lose response" : "none";
        },
        thawAt: (kind) => {
          const until = clock() + Math.floor(random() * 2 * lifetimeMs);
          return kind === "kill" || until >= killedAt ? undefined : until;
        },
      };
    },
  };
}
