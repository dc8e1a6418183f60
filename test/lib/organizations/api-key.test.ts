import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiKeyId, generateApiKey, hashApiKey, isApiKeyOf } from "../../../lib/organizations/api-key.ts";
import { regionCodes } from "../../../lib/regions.ts";

const region = fc.constantFrom(...regionCodes);
const BASE62 = new RegExp(`^wi_(${regionCodes.join("|")})_[0-9A-Za-z]{38}$`);

describe("an API key", () => {
  it("has the shape wi_<region>_<32 base62><6 base62> and belongs to its region alone", () => {
    fc.assert(
      fc.property(region, (code) => {
        const key = generateApiKey(code);
        expect(key).toMatch(BASE62);
        expect(isApiKeyOf(code, key)).toBe(true);
        expect(isApiKeyOf(code === "us" ? "eu" : "us", key)).toBe(false);
      }),
    );
  });

  it("is rejected if any one character differs", () => {
    const other = fc.stringMatching(/^[0-9A-Za-z_ -]$/);
    fc.assert(
      fc.property(region, fc.nat(43), other, (code, at, character) => {
        const key = generateApiKey(code);
        const mistyped = key.slice(0, at) + character + key.slice(at + 1);
        expect(isApiKeyOf(code, mistyped)).toBe(mistyped === key);
      }),
      { numRuns: 500 },
    );
  });

  it("is rejected if two neighbours are swapped, or something is added or cut off", () => {
    fc.assert(
      fc.property(region, fc.integer({ min: 6, max: 42 }), (code, at) => {
        const key = generateApiKey(code);
        const swapped = key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2);
        expect(isApiKeyOf(code, swapped)).toBe(swapped === key);
        expect(isApiKeyOf(code, key.slice(0, at))).toBe(false);
        expect(isApiKeyOf(code, `${key}0`)).toBe(false);
        expect(isApiKeyOf(code, `${key}\n`)).toBe(false);
      }),
    );
  });

  it("doesn't match random text", () => {
    fc.assert(
      fc.property(region, fc.string({ unit: "binary" }), (code, text) => {
        expect(isApiKeyOf(code, text)).toBe(false);
      }),
    );
  });

  it("keeps the checksum that it was issued with: this key must open what it opened yesterday", () => {
    expect(isApiKeyOf("us", "wi_us_0123456789ABCDEFGHIJKLMNOPQRSTUV1DJWXG")).toBe(true);
  });

  it("never repeats, and is named by its hash", () => {
    const keys = Array.from({ length: 1000 }, () => generateApiKey("us"));
    expect(new Set(keys).size).toBe(1000);
    const [key = ""] = keys;
    expect(hashApiKey(key)).toMatch(/^[0-9a-f]{64}$/);
    expect(hashApiKey(key).startsWith(apiKeyId(hashApiKey(key)))).toBe(true);
  });
});
