import * as fc from "fast-check";
import { expect, it } from "vitest";
import { contentHash } from "../../lib/content-hash.ts";
import { jsonEquals, parseKeepingDigits } from "../../lib/json.ts";

/** Few values with many spellings, so that two are often nearly the same. */
const scalar = fc.constantFrom(
  "1",
  "1.0",
  "10",
  "1e1",
  "-0",
  "0",
  "null",
  "true",
  '"1"',
  '""',
  '"\\ud83d"',
  '"\\u2028"',
);
const name = fc.constantFrom("a", "b", "", "__proto__", "constructor", "1", "10", "ä");
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie("json"), { maxLength: 3 }).map((values) => `[${values.join()}]`),
    fc
      .uniqueArray(fc.tuple(name, tie("json")), { maxLength: 3, selector: ([key]) => key })
      .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`),
  ),
}));

/** The same value with the members of all its objects in the other order. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null || JSON.isRawJSON(value)) return value;
  const members = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}:${textOf(reversed(inner))}`);
  return parseKeepingDigits(`{${members.toReversed().join()}}`);
};
const textOf = (value: unknown): string => JSON.stringify(value);

it("is the same for values that jsonEquals considers equal, and for no others", () => {
  let equal = 0;
  fc.assert(
    fc.property(fc.array(json, { minLength: 2, maxLength: 6 }), (texts) => {
      const values = texts.flatMap((text) => [parseKeepingDigits(text), reversed(parseKeepingDigits(text))]);
      for (const a of values) {
        for (const b of values) {
          const isEqual = jsonEquals(a as never, b as never);
          if (isEqual && textOf(a) !== textOf(b)) equal += 1;
          expect([textOf(a), textOf(b), contentHash(a) === contentHash(b)]).toEqual([textOf(a), textOf(b), isEqual]);
        }
      }
    }),
    { numRuns: 500 },
  );
  expect(equal).toBeGreaterThan(50);
});

it("leaves out members that are undefined", () => {
  expect(contentHash({ a: 1, b: undefined })).toBe(contentHash({ a: 1 }));
});

it("takes any depth and any width", () => {
  const levels = 200_000;
  const deep = (inner: unknown): unknown => {
    let value = inner;
    for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { a: value };
    return value;
  };
  expect(contentHash(deep(1))).toBe(contentHash(deep(1)));
  expect(contentHash(deep(1))).not.toBe(contentHash(deep(2)));
  expect(contentHash(Array.from({ length: 500_000 }, () => 1))).toMatch(/^[\w-]{43}$/);
});
