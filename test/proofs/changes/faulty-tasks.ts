import { setTimeout as wait } from "node:timers/promises";
import type { TestClock } from "../../support/clock.ts";
import type { createFaultyRuntime, FaultyRun, RequestFault } from "../../support/uploads/fault-injection.ts";

/** Turns of the event loop within which everything that runs ends, stops or waits for a retry. */
const TURNS_MAX = 20_000;

interface FrozenTask {
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly thaw: () => void;
}

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

/** Runs calls and workers beside each other, with faults in their requests. They share one clock, which a proof controls. */
export function createFaultyTasks(
  during: ReturnType<typeof createFaultyRuntime>["during"],
  clock: TestClock,
  random: () => number,
) {
  const running = new Map<symbol, string>();
  let frozen: FrozenTask[] = [];
  let faults = 0;
  let isCalm = false;

  const choose = (isSpared: boolean): RequestFault => {
    let left = isCalm || isSpared ? 1 : random();
    for (const [fault, share] of SHARES) {
      left -= share;
      if (left < 0) return fault;
    }
    return "none";
  };
  const thawUntil = (time: number): void => {
    const due = frozen.filter(({ until }) => until <= time);
    frozen = frozen.filter((task) => !due.includes(task));
    for (const { thaw } of due) thaw();
  };
  /** Waits until each task has ended or is stopped. @throws if one does neither */
  const settle = async (): Promise<void> => {
    for (let turn = 0; running.size > 0; turn++) {
      if (turn === TURNS_MAX) throw new Error(`still running: ${[...running.values()].join(", ")}`);
      await wait(1);
    }
  };

  return {
    settle,
    thawUntil,
    faults: () => faults,
    count: (): void => void (faults += 1),
    /**
     * Starts a task without waiting for it.
     * @param lifetimeMs when Lambda kills it
     * @param work whether it fails isn't known here: it says so itself
     */
    start: (name: string, lifetimeMs: number, work: () => Promise<unknown>): void => {
      const task = Symbol(name);
      const killedAt = clock() + lifetimeMs;
      // A task of many requests would never end if each of them could have a fault.
      const isSpared = random() < SPARED_SHARE;
      let hasEnded = false;
      /** Requests that are frozen or killed: it ends only without them. */
      let stopped = 0;
      const run: FaultyRun = {
        clock,
        faultOf: () => {
          const fault = choose(isSpared);
          if (fault !== "none") faults += 1;
          return fault;
        },
        statementFault: () => {
          const fault = isCalm || isSpared ? 1 : random();
          if (fault < 0.1) faults += 1;
          return fault < 0.05 ? "throttle" : fault < 0.1 ? "lose response" : "none";
        },
        stop: (kind) =>
          new Promise((resolve) => {
            running.delete(task);
            stopped += 1;
            const until = clock() + Math.floor(random() * 2 * lifetimeMs);
            // Nobody hears of one that is killed.
            if (kind === "kill" || until >= killedAt) return;
            const thaw = (): void => {
              stopped -= 1;
              if (!hasEnded && stopped === 0) running.set(task, name);
              resolve();
            };
            frozen.push({ until, thaw });
          }),
        onMessages: () => undefined,
      };
      running.set(task, name);
      void during(run, work)
        .catch(() => undefined)
        .finally(() => {
          hasEnded = true;
          running.delete(task);
        });
    },
    /** Ends all faults, and lets every frozen task continue to its end. */
    finish: async (): Promise<void> => {
      isCalm = true;
      await settle();
      thawUntil(Infinity);
      await settle();
    },
  };
}
