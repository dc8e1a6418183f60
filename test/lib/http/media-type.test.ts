import { describe, expect, it } from "vitest";
import { parseMediaType } from "../../../lib/http/media-type.ts";
import { cpuMillisecondsOf } from "../../support/cpu-time.ts";

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
