import { afterAll, beforeAll, expect } from "vitest";

/** Time zones of the machine in which dates are tested, with their offsets in June 2023, in minutes. */
const ZONES = { UTC: 0, "America/New_York": 240, "Asia/Tokyo": -540 } as const;

const JUNE_MS = Date.UTC(2023, 5, 1);

/** Each zone, and what makes this process run in it during the tests of a `describe`. */
export const everyZone = Object.entries(ZONES).map(([zone, offset]) => ({
  zone,
  use: (): void => {
    let before: string | undefined;
    beforeAll(() => {
      before = process.env["TZ"];
      process.env["TZ"] = zone;
      expect(new Date(JUNE_MS).getTimezoneOffset(), "the process must follow TZ").toBe(offset);
    });
    afterAll(() => {
      if (before === undefined) delete process.env["TZ"];
      else process.env["TZ"] = before;
    });
  },
}));
