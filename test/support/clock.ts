import type { Clock } from "../../lib/clock.ts";

export interface TestClock extends Clock {
  advance(milliseconds: number): void;
}

/** A clock that stands still until it is told to move. */
export const createTestClock = (start = Date.parse("2026-03-01T12:00:00Z")): TestClock => {
  let now = start;
  return Object.assign(() => now, {
    advance(milliseconds: number) {
      now += milliseconds;
    },
  });
};
