import { describe, expect, test } from "vitest";
import { email } from "../../lib/schema.ts";

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
