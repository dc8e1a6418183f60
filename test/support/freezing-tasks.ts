import { setTimeout as wait } from "node:timers/promises";
import type { TestClock } from "./clock.ts";
import type { createFaultyRuntime, FaultyRun } from "./uploads/fault-injection.ts";

/** Share of tasks that may freeze. Those that send fewer requests than the chosen number don't. */
const FREEZE_SHARE = 0.5;
const REQUESTS_MAX = 8;
/** Turns of the event loop, of at least a millisecond each, within which everything that runs ends or freezes. */
const TURNS_MAX = 20_000;

interface FrozenTask {
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly thaw: () => void;
}

/** Runs calls and workers beside each other. Some freeze before or after one of their requests, and continue later. */
export function createFreezingTasks(
  during: ReturnType<typeof createFaultyRuntime>["during"],
  clock: TestClock,
  random: () => number,
) {
  /** Names of the tasks that have neither ended nor frozen. */
  const running = new Map<symbol, string>();
  const messages: string[] = [];
  let frozen: FrozenTask[] = [];
  let freezes = 0;

  const thawUntil = (time: number): void => {
    const due = frozen.filter(({ until }) => until <= time);
    frozen = frozen.filter((task) => !due.includes(task));
    for (const { thaw } of due) thaw();
  };
  /** Waits until each task has ended or is frozen. @throws if one does neither */
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
     * @param lifetimeMs when Lambda would kill it: it is frozen for a shorter time
     * @param work rejects only if the test is to ignore it
     */
    start: (name: string, lifetimeMs: number, work: () => Promise<unknown>): void => {
      const task = Symbol(name);
      const killedAt = clock() + lifetimeMs;
      let requestsLeft = random() < FREEZE_SHARE ? Math.floor(random() * REQUESTS_MAX) : Infinity;
      const when = random() < 0.5 ? "stall before" : "stall after";
      const until = clock() + Math.floor(random() * (killedAt - clock()));
      let hasEnded = false;
      const run: FaultyRun = {
        clock,
        faultOf: () => (requestsLeft-- === 0 ? when : "none"),
        statementFault: () => "none",
        stop: () =>
          new Promise((resolve) => {
            freezes += 1;
            running.delete(task);
            frozen.push({
              until,
              thaw: () => {
                // A task may end without waiting for one of its requests.
                if (!hasEnded) running.set(task, name);
                resolve();
              },
            });
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
