import type { Clock } from "../../lib/clock.ts";

/** A clock that a test controls. */
export interface TestClock extends Clock {
  advance(milliseconds: number): void;
}

/** Makes a clock that stands still until `advance` is called. */
export const createTestClock = (start = Date.parse("2026-03-01T12:00:00Z")): TestClock => {
  let now = start;
  return Object.assign(() => now, {
    advance(milliseconds: number) {
      now += milliseconds;
    },
  });
};
