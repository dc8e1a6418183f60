import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noRows, rowCountersSchema, sumOf } from "../../../../lib/uploads/job/counters.ts";
import { claimsIn, withClaim } from "../../../../lib/uploads/job/shard-record.ts";

/** Claims in order, many of which follow each other. */
const claims = fc
  .array(
    fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 2000 }) }),
    {
      maxLength: 60,
    },
  )
  .map((steps) => {
    let claim = 0;
    return steps.map((step) => (claim += step));
  });

describe("ranges of claims", () => {
  it("hold each claim once and in order, in as few ranges as there are gaps", () => {
    fc.assert(
      fc.property(claims, (added) => {
        let ranges = "";
        for (const [index, claim] of added.entries()) {
          ranges = withClaim(ranges, claim);
          expect(claimsIn(ranges)).toEqual(added.slice(0, index + 1));
        }
        const starts = added.filter((claim, index) => index === 0 || claim !== added[index - 1]! + 1);
        expect(ranges === "" ? 0 : ranges.split(" ").length).toBe(starts.length);
      }),
    );
  });

  it.each([
    ["", 1, "1"],
    ["1", 2, "1-2"],
    ["1-2", 3, "1-3"],
    ["1-3", 5, "1-3 5"],
    ["1-3 5", 6, "1-3 5-6"],
    ["9", 10, "9-10"],
    ["1 9-99", 100, "1 9-100"],
    ["1 19", 21, "1 19 21"],
  ])('"%s" and %i are "%s"', (ranges, claim, expected) => {
    expect(withClaim(ranges, claim)).toBe(expected);
  });
});

it("adds up the rows in which each field changes", () => {
  const counters = [{ type: 2, status: 1 }, { type: 3 }].map((changed) => ({ ...noRows(), changed_fields: changed }));
  expect(sumOf(counters).changed_fields).toEqual({ type: 5, status: 1 });
});

it.each(["succeeded_rows", "failed_rows"])("a job without %s is damaged, and not one without rows", (missing) => {
  const whole = { succeeded_rows: 0, failed_rows: 0 };
  expect(rowCountersSchema.parse(whole)).toMatchObject({ ...whole, created_rows: 0, kept_rows: 0 });
  expect(rowCountersSchema.safeParse({ ...whole, [missing]: undefined }).success).toBe(false);
});
