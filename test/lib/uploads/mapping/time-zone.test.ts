import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { everyZone } from "../../../support/every-zone.ts";
import { isTimeZone, toInstant } from "../../../../lib/uploads/mapping/time-zone.ts";

const clocks = new Map<string, Intl.DateTimeFormat>();
const clockOf = (zone: string): Intl.DateTimeFormat => {
  const units = {
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  } as const;
  const clock = clocks.get(zone) ?? new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", ...units });
  clocks.set(zone, clock);
  return clock;
};
/** The local time that Intl shows for an instant, as the milliseconds at which UTC shows it. */
const localOf = (zone: string, instant: number): number => {
  const [month = 0, day, year = 0, hour, minute, second] = clockOf(zone).format(instant).split(/\D+/).map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second);
};

const DAY_MS = 86_400_000;
const HOUR_MS = DAY_MS / 24;
/** The days of a year, by UTC, in which a zone changes its offset. */
const changesIn = (zone: string, year: number): number[] => {
  const offsetAt = (at: number): number => localOf(zone, at) - at;
  const days = Array.from({ length: 365 }, (_, day) => Date.UTC(year, 0, 1 + day));
  return days.filter((day) => offsetAt(day) !== offsetAt(day + DAY_MS));
};

describe.each(everyZone)("a time zone, on a machine in $zone", ({ use }) => {
  use();

  it.each([
    ["Europe/Berlin", "2025-03-30T02:30", "2025-03-30T01:30:00.000Z"],
    ["Europe/Berlin", "2025-10-26T02:30", "2025-10-26T00:30:00.000Z"],
    ["Europe/Berlin", "2025-10-26T03:00", "2025-10-26T02:00:00.000Z"],
    ["America/New_York", "2025-03-09T02:30", "2025-03-09T07:30:00.000Z"],
    ["America/New_York", "2025-11-02T01:30", "2025-11-02T05:30:00.000Z"],
    ["Australia/Lord_Howe", "2025-04-06T01:45", "2025-04-05T14:45:00.000Z"],
    ["Asia/Kathmandu", "2025-01-01T00:00", "2024-12-31T18:15:00.000Z"],
    ["Pacific/Apia", "2011-12-30T12:00", "2011-12-30T22:00:00.000Z"],
    ["Africa/Monrovia", "1971-01-01T00:00", "1971-01-01T00:44:30.000Z"],
  ])("gives skipped and doubled times the offset before the change: %s %s", (zone, local, time) => {
    expect(new Date(toInstant(Date.parse(`${local}Z`), zone)).toISOString()).toBe(time);
  });

  it("gives every local time the first instant at which its clocks show it", () => {
    const zones = ["Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns"];
    const changes = zones.flatMap((zone) =>
      [1985, 2004, 2017].flatMap((year) =>
        [...changesIn(zone, year), Date.UTC(year, 5, 1)].map((day) => ({ zone, day })),
      ),
    );
    const quarters = Array.from({ length: 8 }, (_, quarter) => ((quarter + 1) * HOUR_MS) / 4);
    let skipped = 0;
    let doubled = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...changes),
        fc.integer({ min: -12 * 60, max: 36 * 60 }),
        ({ zone, day }, minutes) => {
          const local = day + minutes * 60_000;
          const instant = toInstant(local, zone);
          const shows = (at: number): boolean => localOf(zone, at) === local;
          const isShown = shows(instant);
          const before = instant - 3 * HOUR_MS;
          expect({
            isFirst: !quarters.some((quarter) => shows(instant - quarter)),
            isLater: localOf(zone, instant) > local,
            hasOffsetBefore: isShown || local - instant === localOf(zone, before) - before,
          }).toEqual({ isFirst: true, isLater: !isShown, hasOffsetBefore: true });
          if (!isShown) skipped++;
          if (isShown && quarters.some((quarter) => shows(instant + quarter))) doubled++;
        },
      ),
      { numRuns: 3000 },
    );
    expect(skipped).toBeGreaterThan(10);
    expect(doubled).toBeGreaterThan(10);
  });

  it.each([
    ["Europe/Berlin", true],
    ["UTC", true],
    ["europe/berlin", true],
    ["EST5EDT", true],
    // A name of Unicode's for two zones: Bangladesh's time, and not Britain's.
    ["BST", false],
    ["Mars/Olympus", false],
    ["+01:00", false],
    ["", false],
  ])("is known by its name: %s", (name, isKnown) => {
    expect(isTimeZone(name)).toBe(isKnown);
  });
});
