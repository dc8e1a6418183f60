import { TimedTasks } from "../../support/timed-tasks.ts";

/** Runs callbacks in the order of their times, without waiting for any. */
export interface VirtualTime {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly at: (time: number, run: () => void) => void;
  /** Runs everything that is due until then. */
  readonly runUntil: (time: number) => Promise<void>;
}

/** Promises that a callback resolves have run this many turns of their continuations before the next callback. */
const TURNS = 12;

export const createVirtualTime = (start: number): VirtualTime => {
  let now = start;
  const tasks = new TimedTasks();
  return {
    now: () => now,
    at: (time, run) => tasks.add(time, run),
    runUntil: async (time) => {
      for (let task = tasks.take(time); task; task = tasks.take(time)) {
        now = task.at;
        task.run();
        for (let turn = 0; turn < TURNS; turn++) await Promise.resolve();
      }
      now = time;
    },
  };
};
