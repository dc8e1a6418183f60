import { describe, expect, test } from "vitest";
import { email, timestamp } from "../../lib/schema.ts";

describe("an email address", () => {
  test.each([
    "ann@example.com",
    "first.last+tag@sub.example.co.uk",
    "o'brien@example.com",
    "research&development@example.com",
    "user/department=shipping@example.com",
    "bounce+ann=example.org@mail.example.com",
    "!#$%&'*+/=?^_`{|}~-@example.com",
    "ann@xn--bcher-kva.example",
    "ann@example.xn--p1ai",
    `${"a".repeat(64)}@${"b".repeat(63)}.example`,
  ])("is accepted as %s", (address) => {
    expect(email().parse(address)).toBe(address);
  });

  test.each([
    "ann",
    "ann@example",
    "@example.com",
    "ann@",
    "ann@@example.com",
    ".ann@example.com",
    "ann.@example.com",
    "ann..lee@example.com",
    "ann lee@example.com",
    '"ann lee"@example.com',
    "ann@-example.com",
    "ann@example-.com",
    "ann@example..com",
    "ann@192.0.2.1",
    "ann@example.com\n",
    "Ann <ann@example.com>",
    `${"a".repeat(65)}@example.com`,
    `ann@${"b".repeat(64)}.example`,
    `ann@${"b.".repeat(126)}example`,
  ])("isn't accepted as %j", (address) => {
    expect(email().safeParse(address).success).toBe(false);
  });
});

describe("a date-time", () => {
  const utc = (text: unknown) => timestamp().safeParse(text).data;

  test.each([
    ["2026-01-31T10:30:00+01:00", "2026-01-31T09:30:00.000Z"],
    ["2026-01-31t09:30:00z", "2026-01-31T09:30:00.000Z"],
    ["2026-01-31T09:30:00.123999-00:00", "2026-01-31T09:30:00.123Z"],
    ["2024-02-29T23:59:59Z", "2024-02-29T23:59:59.000Z"],
    ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
    ["2016-12-31t23:59:60.25z", "2017-01-01T00:00:00.250Z"],
    ["2017-01-01T08:59:60+09:00", "2017-01-01T00:00:00.000Z"],
    ["1969-12-31T15:59:60-08:00", "1970-01-01T00:00:00.000Z"],
    ["1912-06-30T23:59:60Z", "1912-07-01T00:00:00.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.9999Z", "9999-12-31T23:59:59.999Z"],
  ])("is one of RFC 3339: %s", (text, time) => {
    expect(utc(text)).toBe(time);
  });

  test.each([
    "2016-12-31T23:58:60Z",
    "2016-12-31T22:59:60Z",
    "2016-12-31T23:59:60+01:00",
    "2017-01-01T08:59:60+08:59",
    "2016-12-31T23:59:61Z",
    "2026-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T09:60:00Z",
    "2026-01-31T09:30Z",
    "2026-01-31T09:30:00",
    "2026-01-31T09:30:00.Z",
    "2026-01-31T09:30:00,5Z",
    "2026-01-31 09:30:00Z",
    "2026-01-31T09:30:00+0100",
    "2026-01-31T09:30:00+24:00",
    "2026-01-31T09:30:00+00:60",
    "2026-01-31T09:30:00Z\n",
    " 2026-01-31T09:30:00Z",
    "２026-01-31T09:30:00Z",
    "+002026-01-31T09:30:00Z",
    "",
    1_769_851_800,
    null,
  ])("is nothing else: %j", (text) => {
    const [problem] = timestamp().safeParse(text).error!.issues;
    expect(problem!.message).toBe("must be an RFC 3339 date-time with offset, such as 2026-01-31T09:30:00Z");
  });

  test.each(["0001-01-01T00:00:00+00:01", "9999-12-31T23:59:60Z", "0000-01-01T00:00:00Z"])(
    "is in the years 0001 to 9999 in UTC: not %s",
    (text) => {
      expect(timestamp().safeParse(text).error!.issues[0]!.message).toBe("must be in the years 0001 to 9999 (UTC)");
    },
  );
});
