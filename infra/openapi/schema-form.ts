/** A JSON Schema, or a part of an OpenAPI document that contains some. */
export type Json = { [key: string]: unknown };

/** Whether a value is an object, but not an array. */
export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The properties of a schema; empty unless it describes an object. */
export function propertiesOf(schema: Json): Record<string, Json> {
  return isObject(schema["properties"]) ? (schema["properties"] as Record<string, Json>) : {};
}

/** Names of the properties that a schema requires. */
export function requiredOf({ required }: Json): ReadonlySet<string> {
  return new Set(Array.isArray(required) ? required.map(String) : []);
}

/** Copies a value and replaces every object in it with the result of `map`, from the inside out. */
function mapObjects(value: unknown, map: (object: Json) => Json): unknown {
  if (Array.isArray(value)) return value.map((element) => mapObjects(element, map));
  if (!isObject(value)) return value;
  return map(Object.fromEntries(Object.entries(value).map(([key, child]) => [key, mapObjects(child, map)])));
}

function without(schema: Json, ...keys: readonly string[]): Json {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)));
}

/** `anyOf: [schema, null]` as one schema that admits null, unless the schema is a reference. */
function mergeNull(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [value, nothing] = anyOf as [unknown, unknown];
  if (!isObject(value) || !isObject(nothing) || nothing["type"] !== "null" || typeof value["type"] !== "string") {
    return schema;
  }
  if (value["enum"] !== undefined) return schema;
  return { ...rest, ...value, type: [value["type"], "null"] };
}

/** Removes the bounds that zod gives every integer. */
function withoutSafeBounds(schema: Json): Json {
  if (schema["type"] !== "integer") return schema;
  const bounds = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
  const keys = Object.entries(bounds).filter(([key, bound]) => schema[key] === bound);
  return without(schema, "pattern", ...keys.map(([key]) => key));
}

function readablePattern(schema: Json): Json {
  return schema["format"] === "uuid" ? without(schema, "pattern") : schema;
}

function isSign(value: unknown): boolean {
  return typeof value === "string" && /^[^\w\\]$/.test(value);
}
function inClass(sign: string): string {
  return sign === "\t" ? String.raw`\t` : sign.replace(/[\]^-]/, String.raw`\$&`);
}

/** Turns an enumeration of signs into a pattern: generators make names of an enumeration's values, but can't of signs. */
function withoutEnumeratedSigns(schema: Json): Json {
  const { enum: values, ...rest } = schema;
  if (!Array.isArray(values) || !values.every(isSign)) return schema;
  return { ...rest, pattern: `^[${values.map(inClass).join("")}]$` };
}

/** The signs that a pattern of `withoutEnumeratedSigns` allows; empty for other patterns. */
export function signsOf({ pattern }: Json): readonly string[] {
  const [, signs = ""] = /^\^\[((?:\\t|\\?[^\w\\])+)\]\$$/.exec(String(pattern)) ?? [];
  return (signs.match(/\\t|\\?[^\w\\]/g) ?? []).map((sign) => (sign === String.raw`\t` ? "\t" : sign.slice(-1)));
}

/** Removes the value of a constant boolean: generators for Java turn `const` into code that doesn't compile. */
function withoutBooleanConst(schema: Json): Json {
  const { const: value, ...rest } = schema;
  return typeof value === "boolean" ? { ...rest, type: "boolean" } : schema;
}

/** Puts the description last. Zod's own order varies. */
function describedLast(schema: Json): Json {
  const { description, ...rest } = schema;
  const isSchema = ["type", "$ref", "anyOf"].some((key) => schema[key] !== undefined);
  return isSchema && typeof description === "string" ? { ...rest, description } : schema;
}

/** Makes zod's schemas readable for people and generators. They accept the same values. */
export function readable(value: unknown): unknown {
  return mapObjects(value, (object) =>
    describedLast(mergeNull(withoutSafeBounds(withoutEnumeratedSigns(withoutBooleanConst(readablePattern(object)))))),
  );
}

/** The known values of a text. Later versions may add others, so generators treat it as a text. */
export const KNOWN_VALUES = "x-extensible-enum";
/** The names that generators give the values of an enumeration. */
export const ENUM_NAMES = "x-enum-varnames";

function withKnownValues(schema: Json): Json {
  const { enum: values, ...rest } = without(schema, ENUM_NAMES);
  return { ...rest, [KNOWN_VALUES]: values };
}

/** The name of the schema that an object refers to. */
function referenceOf({ $ref: reference }: Json): string | undefined {
  return /^#\/components\/schemas\/(.+)$/.exec(String(reference))?.[1];
}

/**
 * Allows what later versions may add to responses: further keys in every object, and further values of enumerations.
 * @param ofRequests enumerations, by name, that requests use too: they stay closed, and responses get open copies
 */
export function open(value: unknown, ofRequests: Json): unknown {
  return mapObjects(value, (object) => {
    const target = ofRequests[referenceOf(object) ?? ""];
    if (isObject(target)) return { ...withKnownValues(target), ...without(object, "$ref") };
    const opened = object["additionalProperties"] === false ? without(object, "additionalProperties") : object;
    return Array.isArray(opened["enum"]) ? withKnownValues(opened) : opened;
  });
}

/** Names of the schemas that a value refers to, directly or not. */
export function referencedSchemas(value: unknown, schemas: Json, found = new Set<string>()): ReadonlySet<string> {
  mapObjects(value, (object) => {
    const name = referenceOf(object);
    if (name !== undefined && !found.has(name)) {
      found.add(name);
      referencedSchemas(schemas[name], schemas, found);
    }
    return object;
  });
  return found;
}
