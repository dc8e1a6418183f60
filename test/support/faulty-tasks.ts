import { setTimeout as wait } from "node:timers/promises";
import type { TestClock } from "./clock.ts";
import type { createFaultyRuntime, FaultyRun } from "./uploads/fault-injection.ts";

/** Turns of the event loop, of at least a millisecond each, within which everything that runs ends or stops. */
const TURNS_MAX = 20_000;

interface FrozenTask {
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly thaw: () => void;
}

/** The faults of one task's requests. */
export interface TaskFaults extends Pick<FaultyRun, "faultOf" | "statementFault"> {
  /** When a request that stops continues, in milliseconds since the epoch; undefined if never. */
  readonly thawAt: (kind: "kill" | "stall") => number | undefined;
}

/**
 * Runs calls and workers beside each other, with faults in their requests. Some freeze, and continue later.
 * @param faultsOf chooses the faults of a task that Lambda kills after a lifetime in milliseconds
 */
export function createFaultyTasks(
  during: ReturnType<typeof createFaultyRuntime>["during"],
  clock: TestClock,
  faultsOf: (lifetimeMs: number) => TaskFaults,
) {
  /** Names of the tasks that have neither ended nor stopped. */
  const running = new Map<symbol, string>();
  const messages: string[] = [];
  let frozen: FrozenTask[] = [];
  let freezes = 0;

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
    freezes: () => freezes,
    /** When the first frozen task continues, in milliseconds since the epoch. */
    nextThaw: () => Math.min(...frozen.map(({ until }) => until)),
    /** @returns the bodies of the messages that tasks have sent since the last call */
    takeMessages: (): string[] => messages.splice(0),
    /**
     * Starts a task without waiting for it.
     * @param work rejects only if the test is to ignore it
     */
    start: (name: string, lifetimeMs: number, work: () => Promise<unknown>): void => {
      const task = Symbol(name);
      const { thawAt, ...faults } = faultsOf(lifetimeMs);
      let hasEnded = false;
      /** Requests that are frozen or killed: it ends only without them. */
      let stopped = 0;
      const run: FaultyRun = {
        clock,
        ...faults,
        stop: (kind) =>
          new Promise((resolve) => {
            running.delete(task);
            stopped += 1;
            const until = thawAt(kind);
            // No one waits for one that is killed.
            if (until === undefined) return;
            freezes += 1;
            const thaw = (): void => {
              stopped -= 1;
              // A task may end without waiting for one of its requests.
              if (!hasEnded && stopped === 0) running.set(task, name);
              resolve();
            };
            frozen.push({ until, thaw });
          }),
        onMessages: (bodies) => messages.push(...bodies),
      };
      running.set(task, name);
      void during(run, work)
        .catch(() => undefined)
        .finally(() => {
          hasEnded = true;
          running.delete(task);
        });
    },
    /** Lets every frozen task continue to its end. */
    finish: async (): Promise<void> => {
      await settle();
      thawUntil(Infinity);
      await settle();
    },
  };
}
