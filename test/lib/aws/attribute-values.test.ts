import { convertToAttr, convertToNative } from "@aws-sdk/util-dynamodb";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromAttributeValues, toAttributeValues } from "../../../lib/aws/attribute-values.ts";

const scalar = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
  fc.boolean(),
  fc.constant(null),
);
/** The document client takes a map with a `constructor` of its own for an instance of a class, and refuses it. */
const nestedName = fc.string({ minLength: 1 }).filter((name) => name !== "constructor");
const value = fc.oneof(scalar, fc.array(scalar), fc.dictionary(nestedName, scalar));

describe("values of attributes", () => {
  it("are converted as the SDK's document client converts them", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), value), (attributes) => {
        const values = toAttributeValues(attributes);
        const expected = Object.entries(attributes).map(([name, each]) => [name, convertToAttr(each)] as const);
        expect(Object.entries(values)).toEqual(expected);
        const back = expected.map(([name, each]) => [name, convertToNative(each) as unknown]);
        expect(Object.entries(fromAttributeValues(values))).toEqual(back);
      }),
    );
  });

  it("are refused if DynamoDB has no type for them", () => {
    expect(() => toAttributeValues({ number: Number.NaN })).toThrow("NaN");
    expect(() => toAttributeValues({ number: 2 ** 53 })).toThrow("9007199254740992");
  });

  it("may have the name of an object's prototype", () => {
    const attributes = Object.fromEntries([["__proto__", "text"]]);
    expect(Object.entries(fromAttributeValues(toAttributeValues(attributes)))).toEqual([["__proto__", "text"]]);
  });

  it("keep all digits of large integers", () => {
    expect(fromAttributeValues({ number: { N: "9007199254740993" } })).toEqual({ number: 9_007_199_254_740_993n });
  });
});
