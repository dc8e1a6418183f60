import { describe, expect, it } from "vitest";
import { InvalidInputError } from "../../../lib/errors.ts";
import { parseIdempotencyKey, parseMediaType } from "../../../lib/http/request.ts";
import { cpuMillisecondsOf } from "../../support/cpu-time.ts";

it.each([undefined, "a", "7f1c 2b/{}", "~".repeat(255)])("takes the Idempotency-Key %j as it is", (key) => {
  expect(parseIdempotencyKey({ "idempotency-key": key })).toBe(key);
});

it.each(["", "a".repeat(256), "ä", "a\tb", "a\u0000"])("rejects the Idempotency-Key %j", (key) => {
  expect(() => parseIdempotencyKey({ "idempotency-key": key })).toThrow(InvalidInputError);
});

describe("parseMediaType", () => {
  it.each([
    ["application/json", "application/json", {}],
    ["Application/JSON ; Charset=UTF-8", "application/json", { charset: "UTF-8" }],
    ['application/json;charset="utf-8"; x', undefined, {}],
    ['a/b; c="d;e=\\"f\\""; g=h', "a/b", { c: 'd;e="f"', g: "h" }],
    ["a/b;", "a/b", {}],
    ["application/json, text/plain", undefined, {}],
    ["", undefined, {}],
    [undefined, undefined, {}],
  ])("reads %j", (header, type, parameters) => {
    const parsed = parseMediaType(header);
    expect(parsed?.type).toBe(type);
    expect(Object.fromEntries(parsed?.parameters ?? [])).toEqual(parameters);
  });

  it("takes no longer for a header made to be slow", async () => {
    const milliseconds = await cpuMillisecondsOf(() => {
      parseMediaType(`a/b${'; a="'.repeat(20_000)}`);
      parseMediaType(`a/b;${" ".repeat(60_000)}=`);
    });
    expect(milliseconds).toBeLessThan(3000);
  });
});
