import * as fc from "fast-check";
import { isObject, type Json } from "../../../infra/openapi/schema-form.ts";
import { resolved } from "../../support/openapi/document-schemas.ts";

/** References below which only required properties are given, so that values end. */
const DEPTH_MAX = 4;
/** Longer strings and arrays are rare: most faults do not need them, and they take long. */
const COMMON_LENGTH = 12;

const numberAt = (schema: Json, key: string, otherwise: number): number =>
  typeof schema[key] === "number" ? schema[key] : otherwise;

/** Characters of one, two, three and four bytes, and those that formats give a meaning. */
const character = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...Array.from("abcXYZ019-_. ")) },
  { weight: 2, arbitrary: fc.constantFrom(...Array.from("äß日\u{1f600}\u0000\n\r\t\"'\\;,/#%&+=\u2028\ufeff")) },
);

const textOf = (schema: Json): fc.Arbitrary<string> => {
  const minLength = numberAt(schema, "minLength", 0);
  const maxLength = numberAt(schema, "maxLength", 1024);
  const sized = (longest: number) =>
    fc.string({ unit: character, minLength, maxLength: Math.min(longest, maxLength), size: "max" });
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("a", "b", "c", "constructor") },
    { weight: 6, arbitrary: sized(COMMON_LENGTH) },
    { weight: 1, arbitrary: fc.constantFrom("x", "😀").map((unit) => unit.repeat(Math.min(maxLength, 1024))) },
  );
};

const dateTime: fc.Arbitrary<string> = fc
  .record({
    date: fc.date({
      min: new Date("0002-01-01T00:00:00Z"),
      max: new Date("9998-12-31T00:00:00Z"),
      noInvalidDate: true,
    }),
    fraction: fc.constantFrom("", ".1", ".123456789"),
    offset: fc.constantFrom("Z", "+01:00", "-23:59", "+00:00"),
  })
  .map(({ date, fraction, offset }) => `${date.toISOString().slice(0, 19)}${fraction}${offset}`);

const email = fc.constantFrom("ann@example.com", "BOB+x@example.co.uk", "o'neil_1@a-b.museum", "_@example.org");

const stringsOf = (schema: Json): fc.Arbitrary<string> => {
  switch (schema["format"]) {
    case "date-time":
      return dateTime;
    case "email":
      return email;
    case "uuid":
      return fc.uuid();
    default:
      return textOf(schema);
  }
};

/** Any JSON value, with keys and numbers that trouble programs. */
export const anyJson: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 9007199254740992, 1e21, "", "text", "__proto__", "\u0000"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "constructor", "toString", "a.b", "", "id", "$ref", "ä"), tie("value"), {
      maxKeys: 3,
    }),
  ),
})).value;

const objectsOf = (schema: Json, path: readonly string[], depth: number): fc.Arbitrary<unknown> => {
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  const properties = isObject(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  const others = schema["additionalProperties"];
  const given = properties.filter((name) => depth < DEPTH_MAX || required.includes(name));
  const fields = fc.record(
    Object.fromEntries(given.map((name) => [name, valuesOf([...path, "properties", name], depth)])),
    { requiredKeys: required },
  );
  if (others === undefined || others === false) return fields;
  const value = others === true ? anyJson : valuesOf([...path, "additionalProperties"], depth);
  const rest = fc.dictionary(
    fc.constantFrom("external_id", "status", "a", "short_description", "custom_attributes.x"),
    value,
    {
      maxKeys: 3,
    },
  );
  return fc.tuple(rest, fields).map(([more, named]) => ({ ...more, ...named }));
};

const valuesOfType = (type: unknown, schema: Json, path: readonly string[], depth: number): fc.Arbitrary<unknown> => {
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.integer({ min: numberAt(schema, "minimum", -100), max: numberAt(schema, "maximum", 2 ** 31) });
    case "string":
      return stringsOf(schema);
    case "array":
      return fc.array(valuesOf([...path, "items"], depth), {
        minLength: numberAt(schema, "minItems", 0),
        maxLength: depth < DEPTH_MAX ? 4 : numberAt(schema, "minItems", 0),
      });
    default:
      return objectsOf(schema, path, depth);
  }
};

/** Values that the document's schema at a path admits. */
export const valuesOf = (path: readonly string[], depth = 0): fc.Arbitrary<unknown> => {
  const { value: schema, path: place } = resolved(path);
  const deeper = place === path ? depth : depth + 1;
  if (Array.isArray(schema["enum"])) return fc.constantFrom(...(schema["enum"] as unknown[]));
  for (const key of ["anyOf", "oneOf"]) {
    const branches = schema[key];
    if (Array.isArray(branches))
      return fc.oneof(...branches.map((_, index) => valuesOf([...place, key, String(index)], deeper)));
  }
  const { type } = schema;
  if (type === undefined && schema["properties"] === undefined) return anyJson;
  const types = Array.isArray(type) ? (type as unknown[]) : [type];
  return fc.oneof(...types.map((each) => valuesOfType(each, schema, place, deeper)));
};
