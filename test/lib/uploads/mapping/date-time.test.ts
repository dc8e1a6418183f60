import { utc } from "@date-fns/utc";
import { parse } from "date-fns/parse";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { everyZone } from "../../../support/every-zone.ts";
import { createPatternReader, problemOfPattern } from "../../../../lib/uploads/mapping/date-pattern.ts";
import { createTimeReader } from "../../../../lib/uploads/mapping/date-time.ts";
import { timestamp } from "../../../../lib/schema.ts";
import { charactersReadBy } from "./characters-read.ts";

const read = (text: string, format = "iso", timeZone?: string, decimal: "." | "," = ".") =>
  createTimeReader({ format, timeZone }, decimal)(text);

describe.each(everyZone)("a date-time, on a machine in $zone", ({ use }) => {
  use();

  it.each([
    ["2026-01-31T10:30:00+01:00", "2026-01-31T09:30:00.000Z"],
    ["2026-01-31 09:30:00Z", "2026-01-31T09:30:00.000Z"],
    ["  2026-01-31t09:30z ", "2026-01-31T09:30:00.000Z"],
    ["2026-01-31T09:30:00.123999Z", "2026-01-31T09:30:00.123Z"],
    ["2026-01-31 09:30:00.123456 UTC", "2026-01-31T09:30:00.123Z"],
    ["2026-01-31 09:30:00,5 +0530", "2026-01-31T04:00:00.500Z"],
    ["20260131T093000-03", "2026-01-31T12:30:00.000Z"],
    ["2016-12-31 23:59:60 UTC", "2017-01-01T00:00:00.000Z"],
    ["20170101T085960+0900", "2017-01-01T00:00:00.000Z"],
  ])("in ISO 8601 is read: %s", (text, time) => {
    expect(read(text)).toBe(time);
  });

  it.each([
    ["2023-06-01 12:15:36", "2023-06-01T10:15:36.000Z"],
    ["2023-06-01", "2023-05-31T22:00:00.000Z"],
    ["2023-06-01 12:15:36Z", "2023-06-01T12:15:36.000Z"],
    ["2017-01-01 00:59:60", "2017-01-01T00:00:00.000Z"],
  ])("in ISO 8601 without offset is one of the time zone: %s", (text, time) => {
    expect(read(text, "iso", "Europe/Berlin")).toBe(time);
  });

  it.each(["2016-12-31 23:59:60", "2017-01-01T00:59:60+02:00", "2017-01-01 00:58:60"])(
    "has no second 60 but at 23:59:60 UTC: %s",
    (text) => {
      expect(() => read(text, "iso", "Europe/Berlin")).toThrow("isn't a date and time");
    },
  );

  it.each([
    ["29-02-2016 01:16", "dd-MM-yyyy HH:mm", "UTC", "2016-02-29T01:16:00.000Z"],
    ["1.6.2023", "d.M.yyyy", "Europe/Berlin", "2023-05-31T22:00:00.000Z"],
    ["6/1/23 12:05 AM", "M/d/yy h:mm a", "America/New_York", "2023-06-01T04:05:00.000Z"],
    ["6/1/2023, 12:05\u202fAM", "M/d/yyyy, h:mm a", "UTC", "2023-06-01T00:05:00.000Z"],
    ["Thu, 1 Jun 2023 at 9 o'clock", "EEE, d MMM yyyy 'at' H 'o''clock'", "UTC", "2023-06-01T09:00:00.000Z"],
    ["June 1st, 2023", "MMMM do, yyyy", "UTC", "2023-06-01T00:00:00.000Z"],
    ["2023-06-01T12:15:36.250+05:30", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", undefined, "2023-06-01T06:45:36.250Z"],
    ["20230601121536", "yyyyMMddHHmmss", "UTC", "2023-06-01T12:15:36.000Z"],
    ["1685621736", "unix", undefined, "2023-06-01T12:15:36.000Z"],
    ["1685621736123", "unix_ms", undefined, "2023-06-01T12:15:36.123Z"],
  ])("in another format is read: %s", (text, format, zone, time) => {
    expect(read(text, format, zone)).toBe(time);
  });

  it("in seconds may have a fraction with the file's decimal mark", () => {
    expect(read("1685621736,5", "unix", undefined, ",")).toBe("2023-06-01T12:15:36.500Z");
    expect(() => read("1685621736.5", "unix", undefined, ",")).toThrow(
      "isn't a Unix time in seconds, such as 1769851800",
    );
  });

  it.each([
    ["31/02/2023", "dd/MM/yyyy", "UTC", '"31/02/2023" doesn\'t match the format dd/MM/yyyy'],
    ["12/31/2023", "dd/MM/yyyy", "UTC", "doesn't match the format"],
    ["01/06/23", "dd/MM/yyyy", "UTC", "doesn't match the format"],
    ["01-06-2023 24:00", "dd-MM-yyyy HH:mm", "UTC", "doesn't match the format"],
    ["1 Juin 2023", "d MMM yyyy", "UTC", "doesn't match the format"],
    ["2023-02-30", "iso", "UTC", '"2023-02-30" isn\'t a date and time; use, for example, 2026-01-31 09:30'],
    ["yesterday", "iso", "UTC", "isn't a date and time"],
    [
      "45078.51",
      "iso",
      "UTC",
      "; if it is a spreadsheet's day number, format the column as a date there and save the file again",
    ],
    ["2023-06-01 12:15:36", "iso", undefined, '"2023-06-01 12:15:36" has no UTC offset; set time_zone in the mapping'],
    ["1685621736123", "unix", undefined, '"1685621736123" is outside the years 0001 to 9999'],
    ["1e9", "unix", undefined, "isn't a Unix time in seconds, such as 1769851800"],
    ["now", "unix_ms", undefined, "isn't a Unix time in milliseconds, such as 1769851800000"],
  ])("in another format is rejected with what it should be: %s as %s", (text, format, zone, message) => {
    expect(() => read(text, format, zone)).toThrow(message);
  });

  it.each([
    ["49", 2049],
    ["50", 2050],
    ["51", 1951],
    ["00", 2000],
  ])("with two digits of a year is one of 1951 to 2050: %s", (digits, year) => {
    expect(read(`01.02.${digits}`, "dd.MM.yy", "UTC")).toBe(`${year}-02-01T00:00:00.000Z`);
    expect(read(`1 Feb ${digits}`, "d MMM yy", "UTC")).toBe(`${year}-02-01T00:00:00.000Z`);
  });

  it("has the offsets that date-times of the API have, in ISO 8601 and in patterns", () => {
    const schema = timestamp();
    const pad = (value: number): string => String(value).padStart(2, "0");
    const patterns = [
      ["iso", ":"],
      ["yyyy-MM-dd'T'HH:mm:ssXXX", ":"],
      ["yyyy-MM-dd'T'HH:mm:ssxxxxx", ":"],
      ["yyyy-MM-dd'T'HH:mm:ssxx", ""],
      ["yyyy-MM-dd'T'HH:mm:ssX", ""],
    ] as const;
    const readOrNull = (text: string, format: string): string | null => {
      try {
        return read(text, format);
      } catch {
        return null;
      }
    };
    for (const hours of [0, 9, 14, 18, 19, 23, 24, 25, 60, 99]) {
      for (const minutes of [0, 30, 59, 60, 99]) {
        for (const sign of ["+", "-"]) {
          const offset = `${sign}${pad(hours)}:${pad(minutes)}`;
          const expected = schema.safeParse(`2026-01-31T10:00:00${offset}`).data ?? null;
          const found = patterns.map(([format, colon]) =>
            readOrNull(`2026-01-31T10:00:00${offset.replace(":", colon)}`, format),
          );
          expect({ offset, found }).toEqual({ offset, found: patterns.map(() => expected) });
        }
      }
    }
  });

  it("may have digits after a hyphen that are not its offset", () => {
    expect(read("2026-3112 +0100", "yyyy-ddMM xx")).toBe("2026-12-30T23:00:00.000Z");
    expect(read("31-01-2026 10-5959 Z", "dd-MM-yyyy HH-mmss X")).toBe("2026-01-31T10:59:59.000Z");
    expect(() => read("2026-3112 +2460", "yyyy-ddMM xx")).toThrow("doesn't match the format");
  });

  it.each([
    ["2026-01-31+99+01:00", "yyyy-MM-dd'+99'XXX", "2026-01-30T23:00:00.000Z"],
    ["2026-01-31+99+24:00", "yyyy-MM-dd'+99'XXX", null],
    ["2026-01-31+01:60+01:59", "yyyy-MM-dd'+01:60'XXX", "2026-01-30T22:01:00.000Z"],
    ["2026-01-31Z+99", "yyyy-MM-ddXXX+99", "2026-01-31T00:00:00.000Z"],
    ["2026-01-31+2400+99", "yyyy-MM-ddX+99", null],
    ["-99 -2460 31 Jan 2026", "'-99' xx d MMM yyyy", null],
    ["-99 -2359 31 Jan 2026", "'-99' xx d MMM yyyy", "2026-01-31T23:59:00.000Z"],
    ["Wed Aug 27 13:08:45 +0000 2008", "EEE MMM dd HH:mm:ss xx yyyy", "2008-08-27T13:08:45.000Z"],
  ])("may have signs that are not its offset's: %s", (text, format, time) => {
    const result = (): string => {
      try {
        return read(text, format);
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(result()).toContain(time ?? "doesn't match the format");
  });

  it("of a megabyte does not fit a pattern", () => {
    const cell = `1 January 2026${" ".repeat(1_000_000)}x`;
    expect(
      charactersReadBy(() => expect(() => read(cell, "d MMMM yyyy", "UTC")).toThrow("doesn't match")),
    ).toBeLessThan(3_100_000);
  });

  it("of digits is read as date-fns reads it", () => {
    const between = fc.constantFrom("-", "/", ".", " ", ":", "'T'", "''", "");
    const fields = fc.constantFrom(
      ["yyyy", "MM", "dd", "HH", "mm", "ss"],
      ["d", "M", "yyyy", "H", "mm"],
      ["MM", "dd", "yyyy"],
      ["HH", "mm", "dd", "M", "yyyy"],
    );
    const number = (field: string): fc.Arbitrary<string> => {
      if (field === "yyyy") return fc.oneof(fc.integer({ min: 1890, max: 2110 }), fc.nat(10_100)).map(String);
      const most = { M: 12, d: 31, H: 23, m: 59, s: 59 }[field.charAt(0)] ?? 0;
      const value = fc.oneof({ arbitrary: fc.nat(most), weight: 6 }, { arbitrary: fc.nat(100), weight: 1 });
      return fc.tuple(value, fc.boolean()).map(([each, pads]) => (pads ? String(each).padStart(2, "0") : String(each)));
    };
    const given = fc
      .tuple(fields, between, fc.oneof({ arbitrary: fc.constant(undefined), weight: 4 }, between))
      .chain(([names, mark, otherMark]) => {
        const shown = (otherMark ?? mark).replace("''", "\u0000").replaceAll("'", "").replace("\u0000", "'");
        return fc.tuple(
          fc.constant(names.join(mark)),
          fc.tuple(...names.map(number)).map((numbers) => numbers.join(shown)),
        );
      });
    let fitting = 0;
    fc.assert(
      fc.property(given, ([format, text]) => {
        const expected = parse(text, format, utc(Date.UTC(2000, 0, 1)), { in: utc });
        const time = createPatternReader(format)(text);
        if (!Number.isNaN(time)) fitting++;
        expect(time).toBe(expected.getFullYear() < 1000 ? Number.NaN : expected.getTime());
      }),
      { numRuns: 2000 },
    );
    expect(fitting).toBeGreaterThan(500);
  });
});

describe.each(everyZone)("a pattern, on a machine in $zone", ({ use }) => {
  use();

  it.each([
    ["dd-mm-yyyy", "the month (MM) is missing"],
    ["DD-MM-YYYY", "DD isn't a date field; the day is dd, not DD"],
    ["YYYY-MM-dd", "the year is yyyy, not YYYY"],
    ["dd-MM-yyyy hh:mm", "hours from 1 to 12 (h) need AM or PM (a)"],
    ["dd-MM-yyyy HH:mm a", "AM or PM (a) needs hours from 1 to 12 (h)"],
    ["yyyy-MM-ddTHH:mm", "put the letter T in single quotes: 'T'"],
    ["yyyy-MM-dd HH:mm Z", "offsets are XXX"],
    ["yyyy-MM-dd at HH:mm", "text must be in single quotes"],
    ["dd-MM-yyyy d", "the day occurs twice"],
    ["", "the year (yyyy) is missing"],
    ["P", "P isn't a date field"],
  ])("that cannot be read is rejected: %s", (pattern, problem) => {
    expect(problemOfPattern(pattern)).toContain(problem);
  });

  it("that is accepted never makes date-fns throw", () => {
    const token = fc.constantFrom(
      "yyyy",
      "yy",
      "y",
      "u",
      "M",
      "MM",
      "MMM",
      "L",
      "d",
      "dd",
      "do",
      "E",
      "EEEE",
      "H",
      "kk",
      "h",
      "K",
      "a",
      "b",
      "m",
      "ss",
      "S",
      "SSSSSS",
      "X",
      "xxx",
      "'T'",
      "''",
      "'",
      "-",
      " ",
      "1",
      "Q",
      "w",
      "t",
    );
    fc.assert(
      fc.property(
        fc.array(token, { minLength: 3, maxLength: 9 }),
        fc.string({ unit: fc.constantFrom("1", "2", "-", " ", "T", "J", "AM", "Z"), maxLength: 20 }),
        (tokens, text) => {
          const pattern = tokens.join("");
          const isRefused = problemOfPattern(pattern) !== undefined;
          expect(isRefused ? "number" : typeof createPatternReader(pattern)(text)).toBe("number");
        },
      ),
      { numRuns: 5000 },
    );
  });
});
