import type { TestClock } from "../../support/clock.ts";

const MINUTE_MS = 60_000;

/** Lets time pass, with what happens each minute. */
export interface Minutes {
  /** Lets so many milliseconds pass. */
  readonly pass: (milliseconds: number) => Promise<void>;
  /** Makes up for the minutes that have passed by other means. */
  readonly catchUp: () => Promise<void>;
}

/** @param everyMinute called each minute of the clock, as a schedule calls a function */
export const createMinutes = (clock: TestClock, everyMinute: () => Promise<void>): Minutes => {
  let next = clock() + MINUTE_MS;
  const catchUp = async (): Promise<void> => {
    if (clock() < next) return;
    await everyMinute();
    // A schedule that is late is not made up for: the minutes between have had no call.
    while (next <= clock()) next += MINUTE_MS;
  };
  return {
    catchUp,
    pass: async (milliseconds) => {
      for (let left = milliseconds; left > 0;) {
        await catchUp();
        const step = Math.min(left, next - clock());
        clock.advance(step);
        left -= step;
      }
      await catchUp();
    },
  };
};
