import { isObject, type Json, propertiesOf, requiredOf } from "./schema-form.ts";

/** Who sends the values: callers, which know the old schema, or the service, which follows the new one. */
export type Direction = "request" | "response";

/** Resolves `$ref`s in one of the documents. */
export type Resolve = (schema: unknown) => Json;

const TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"] as const;

/** All types that a schema admits. A number may be an integer. */
const typesOf = ({ type }: Json): ReadonlySet<string> => {
  const named = Array.isArray(type) ? type.map(String) : typeof type === "string" ? [type] : TYPES;
  return new Set(named.includes("number") ? [...named, "integer"] : named);
};

const setOf = (value: unknown): ReadonlySet<unknown> | undefined => (Array.isArray(value) ? new Set(value) : undefined);
const valuesOf = (schema: Json): ReadonlySet<unknown> | undefined =>
  "const" in schema ? new Set([schema["const"]]) : setOf(schema["enum"]);

const LOWER_BOUNDS = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const UPPER_BOUNDS = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/** Keywords for which any difference may refuse what was accepted. */
const EXACT = [
  "pattern",
  "format",
  "multipleOf",
  "uniqueItems",
  "contentMediaType",
  "contentEncoding",
  "propertyNames",
];

const numberOf = (value: unknown, otherwise: number): number => (typeof value === "number" ? value : otherwise);

/** What `narrow` admits less than `wide` by bounds and exact keywords. */
const bounded = (wide: Json, narrow: Json): string[] => [
  ...LOWER_BOUNDS.filter((key) => numberOf(narrow[key], -Infinity) > numberOf(wide[key], -Infinity)),
  ...UPPER_BOUNDS.filter((key) => numberOf(narrow[key], Infinity) < numberOf(wide[key], Infinity)),
  ...EXACT.filter((key) => narrow[key] !== undefined && JSON.stringify(narrow[key]) !== JSON.stringify(wide[key])),
];

const branchesOf = (schema: Json): unknown[] | undefined => {
  const branches = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(branches) ? branches : undefined;
};

/** Compares two schemas for values that go in one direction. */
export const createSchemaComparison = (direction: Direction, resolveOld: Resolve, resolveNew: Resolve) => {
  /** Pairs of references that are being compared, since schemas may refer to themselves. */
  const comparing = new Set<string>();
  const isRequest = direction === "request";

  const compareObjects = (before: Json, after: Json, place: string): string[] => {
    const [old, now] = [propertiesOf(before), propertiesOf(after)];
    const [oldRequired, nowRequired] = [requiredOf(before), requiredOf(after)];
    const isClosed = after["additionalProperties"] === false;
    const common = Object.keys(old).filter((name) => Object.hasOwn(now, name));
    const removed = Object.keys(old).filter((name) => !Object.hasOwn(now, name));
    const required = isRequest
      ? [...nowRequired].filter((name) => !oldRequired.has(name)).map((name) => `${place}.${name}: is required now`)
      : [...oldRequired]
          .filter((name) => !nowRequired.has(name) && Object.hasOwn(now, name))
          .map((name) => `${place}.${name}: may be absent now`);
    return [
      ...(isRequest && !isClosed ? [] : removed.map((name) => `${place}.${name}: is removed`)),
      ...required,
      ...(isRequest && isClosed && before["additionalProperties"] !== false
        ? [`${place}: takes no other keys now`]
        : []),
      ...common.flatMap((name) => compare(old[name], now[name], `${place}.${name}`)),
      ...(isObject(before["additionalProperties"]) && isObject(after["additionalProperties"])
        ? compare(before["additionalProperties"], after["additionalProperties"], `${place}.*`)
        : []),
    ];
  };

  /** Each branch of the one that must be covered has a branch of the other that covers it. */
  const compareBranches = (before: Json, after: Json, place: string): string[] => {
    const [old, now] = [branchesOf(before) ?? [before], branchesOf(after) ?? [after]];
    const [inner, outer] = isRequest ? [old, now] : [now, old];
    const isCovered = (branch: unknown): boolean =>
      outer.some((other) => (isRequest ? compare(branch, other, place) : compare(other, branch, place)).length === 0);
    return inner.every(isCovered) ? [] : [`${place}: its alternatives changed`];
  };

  const compareResolved = (before: Json, after: Json, place: string): string[] => {
    if (branchesOf(before) !== undefined || branchesOf(after) !== undefined) {
      return compareBranches(before, after, place);
    }
    // What callers may send must stay admitted; what they receive must have been admitted before.
    const [wide, narrow] = isRequest ? [before, after] : [after, before];
    const types = [...typesOf(wide)].filter((type) => !typesOf(narrow).has(type));
    const [wideValues, narrowValues] = [valuesOf(wide), valuesOf(narrow)];
    const values =
      narrowValues === undefined ? [] : [...(wideValues ?? ["any"])].filter((value) => !narrowValues.has(value));
    const verb = isRequest ? "takes no" : "may be";
    const problems = [...types, ...values].map((what) => `${place}: ${verb} ${String(what)} now`);
    if (isRequest) problems.push(...bounded(before, after).map((key) => `${place}: ${key} is narrower`));
    else if (typeof before["format"] === "string" && before["format"] !== after["format"]) {
      problems.push(`${place}: is no ${before["format"]} any more`);
    }
    return [
      ...problems,
      ...compareObjects(before, after, place),
      ...(isObject(before["items"]) && isObject(after["items"])
        ? compare(before["items"], after["items"], `${place}[]`)
        : []),
    ];
  };

  const compare = (before: unknown, after: unknown, place: string): string[] => {
    const references = [before, after].map((schema) => (isObject(schema) ? schema["$ref"] : undefined));
    const pair = references.join(" ");
    const isRecursive = references.every((reference) => reference !== undefined);
    if (isRecursive && comparing.has(pair)) return [];
    if (isRecursive) comparing.add(pair);
    const problems = compareResolved(resolveOld(before), resolveNew(after), place);
    comparing.delete(pair);
    return problems;
  };
  return compare;
};
