import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keepsItsDigits, parseJson, parseKeepingDigits } from "../../lib/json.ts";

const digits = fc.stringMatching(/^(0|[1-9][0-9]{0,20})$/);
const number = fc
  .tuple(
    fc.constantFrom("", "-"),
    digits,
    fc.option(fc.stringMatching(/^\.[0-9]{1,20}$/), { nil: "" }),
    fc.option(fc.stringMatching(/^[eE][-+]?[0-9]{1,2}$/), { nil: "" }),
  )
  .map((parts) => parts.join(""));
const space = fc.constantFrom("", "", " ", "\n", "\t", "\r\n");
const text = fc.oneof(
  fc.string(),
  number,
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
);
/** JSON texts with numbers in all the forms that JSON allows. */
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc
    .tuple(
      space,
      fc.oneof(
        { maxDepth: 3 },
        number,
        text.map((value) => JSON.stringify(value)),
        fc.array(tie("json"), { maxLength: 4 }).map((values) => `[${values.join(",")}]`),
        fc
          .array(fc.tuple(text, space, tie("json")), { maxLength: 4 })
          .map(
            (entries) => `{${entries.map(([name, gap, value]) => `${JSON.stringify(name)}${gap}:${value}`).join(",")}}`,
          ),
      ),
      space,
    )
    .map((parts) => parts.join("")),
}));

describe("JSON text", () => {
  it("is parsed the fast way only where that changes no number", () => {
    fc.assert(
      fc.property(json, (given) => {
        expect(JSON.stringify(parseJson(given))).toBe(JSON.stringify(parseKeepingDigits(given)));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    "9007199254740993",
    "1.0",
    "-0",
    "0.10",
    "1e2",
    "1.5E-7",
    "0.0000001",
    "-0.0",
    "100000000000000000000",
    "0.1000000000000000055511151231257827",
  ])("is parsed the slow way for %s, wherever it stands", (lossy) => {
    for (const given of [lossy, ` ${lossy}\n`, `[${lossy}]`, `[1,${lossy},1]`, `{"a":${lossy}}`, `{"a" : ${lossy} }`]) {
      expect([given, keepsItsDigits(given)]).toEqual([given, false]);
      expect(JSON.stringify(parseJson(given))).toBe(given.replaceAll(/\s/g, ""));
    }
  });

  it("is parsed the fast way for the times, ids and numbers of most requests", () => {
    const given = JSON.stringify({
      external_id: "INC-0001000",
      completed_at: "2026-01-01T10:30:10.500Z",
      occurred_at: "2026-10-10T09:00:00.000+01:00",
      agent_email: "a-0@example.com",
      custom_attributes: { floor: 30, share: 0.25, phone: "+49 30 1234567890123456", id: "0190b3c1-0e10-8000-a000-0" },
    });
    expect(keepsItsDigits(given)).toBe(true);
  });

  it("takes no longer than its length allows", () => {
    const start = process.cpuUsage();
    for (const hostile of ["1", "0", "1.0", "-0", ":0", "0e", " 0.000000"])
      keepsItsDigits(`${hostile.repeat(500_000)}x`);
    expect(process.cpuUsage(start).user / 1e6).toBeLessThan(10);
  });
});
