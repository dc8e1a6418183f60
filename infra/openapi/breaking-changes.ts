import { isDeepStrictEqual } from "node:util";
import type { OpenApiDocument } from "./document.ts";
import { ENUM_NAMES, isObject, type Json, KNOWN_VALUES, propertiesOf, referencedSchemas } from "./schema-form.ts";

/** Keywords that no program depends on. */
const PROSE = new Set(["description", "summary", "title", "tags", "example", "examples", "links"]);
/** Lists that may grow. Programs expect their values, and generators make constants of the names. */
const GROWING = new Set([KNOWN_VALUES, ENUM_NAMES]);
/** Keywords whose keys are names. */
const NAMED = new Set(["properties", "responses", "content", "headers", "encoding"]);
/** Keywords that say what a value may be. Bounds, patterns and the keywords after `const` restrict requests only. */
const LIMIT =
  /^(min|max|exclusiveM|required$|type$|enum$|const$|format$|pattern|propertyNames|not$|multipleOf|uniqueI|addi)/;
const LIMIT_OF_RESPONSES = /^(required|type|enum|const|format)$/;

/** The choices of a keyword. A number may be an integer, and the pattern `^(a|b)$` has the choices `a` and `b`. */
function choicesOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(choicesOf);
  return value === "number"
    ? ["number", "integer"]
    : (/^\^\((.*)\)\$$/.exec(String(value))?.[1]?.split("|") ?? [value]);
}

/** Whether a keyword with the value `narrow` rejects something that it accepts with the value `wide`. */
function isNarrower(key: string, narrow: unknown, wide: unknown): boolean {
  if (key === "additionalProperties") return narrow === false && wide !== false;
  if (key === "required") return [narrow ?? []].flat().some((name) => name !== false && ![wide].flat().includes(name));
  if (narrow === undefined || wide === undefined) return narrow !== undefined;
  if (typeof narrow === "number") return /min/i.test(key) ? narrow > Number(wide) : narrow < Number(wide);
  return choicesOf(wide).some((choice) => !choicesOf(narrow).some((other) => isDeepStrictEqual(choice, other)));
}

/** Parameters as the properties of an object. */
function parametersAsObject(parameters: unknown = []): Json {
  const named = (parameters as Json[]).map((parameter) => {
    const { $ref: reference, in: location, name } = parameter;
    return [[reference, location, name].filter(Boolean).join(" "), parameter] as const;
  });
  const required = named.flatMap(([name, parameter]) => (parameter["required"] === true ? [name] : []));
  const schemas = named.map(([name, { schema = {} }]) => [name, schema]);
  return { properties: Object.fromEntries(schemas), required };
}

function isList({ type }: Json): boolean {
  return type === "array";
}

/**
 * Gives parameters that can newly be repeated their earlier form: `type=a` is still valid, as a list of one value.
 */
function withoutNewLists(before: Json, after: Json): Json {
  const old = propertiesOf(before);
  const now = propertiesOf(after);
  const schemas = Object.entries(now).map(([name, schema]) => {
    const isNew = isList(schema) && old[name] !== undefined && !isList(old[name]);
    return [name, isNew ? schema["items"] : schema];
  });
  return { ...after, properties: Object.fromEntries(schemas) };
}

/** Where two values stand in their documents. */
interface Place {
  readonly location: string;
  /** Whether callers send what stands here. Otherwise they receive it. */
  readonly isRequest: boolean;
  /** Whether the keys are names of ours, such as those of properties. Otherwise they are keywords. */
  readonly hasNames: boolean;
}

/** The values of a keyword as they are compared: parameters as properties, and a missing body as an empty one. */
function comparedValues(key: string, before: unknown, after: unknown): readonly [unknown, unknown] {
  if (key === "requestBody") return [before ?? {}, after ?? {}];
  if (key !== "parameters" || !Array.isArray(before ?? after)) return [before, after];
  const parameters = parametersAsObject(before);
  return [parameters, withoutNewLists(parameters, parametersAsObject(after))];
}

/**
 * The breaking changes at a key. Requests must still be accepted. Responses must still have what they had, and no values that
 * callers can't know.
 */
function changesAt(key: string, before: unknown, after: unknown, { location, isRequest, hasNames }: Place): string[] {
  const inner: Place = {
    location: `${location}.${key}`,
    isRequest: isRequest && key !== "responses",
    hasNames: !hasNames && NAMED.has(key),
  };
  if (isObject(before) && isObject(after) && key !== "not") return changesIn(before, after, inner);
  const [narrow, wide] = isRequest ? [after, before] : [before, after];
  let isBroken = before !== undefined && !isDeepStrictEqual(before, after);
  if (key === "anyOf" && Array.isArray(narrow) && Array.isArray(wide)) {
    // Each alternative of the wider schema must be covered by one of the narrower.
    const covers = (one: Json, other: Json): boolean =>
      (isRequest ? changesIn(other, one, inner) : changesIn(one, other, inner)).length === 0;
    isBroken = !wide.every((other: Json) => narrow.some((one: Json) => covers(one, other)));
  } else if (!hasNames && GROWING.has(key)) {
    isBroken = before !== undefined && isNarrower(key, after ?? [], before);
  } else if (!hasNames && LIMIT.test(key)) {
    isBroken = (isRequest || LIMIT_OF_RESPONSES.test(key)) && isNarrower(key, narrow, wide);
  }
  return isBroken
    ? [`${inner.location}: ${after === undefined ? "is removed" : `is now ${JSON.stringify(after)}`}`]
    : [];
}

/** The breaking changes in an object. */
function changesIn(before: Json, after: Json, place: Place): string[] {
  const keys = Object.keys({ ...before, ...after });
  if (place.hasNames) return keys.flatMap((name) => changesAt(name, before[name], after[name], place));
  return keys
    .filter((keyword) => !PROSE.has(keyword))
    .flatMap((keyword) => changesAt(keyword, ...comparedValues(keyword, before[keyword], after[keyword]), place));
}

/**
 * What a new document breaks for callers that follow the old one. New operations, properties and optional parameters
 * break nothing.
 * @returns a line for each breaking change, with its location in the document
 */
export function breakingChanges(before: OpenApiDocument, after: OpenApiDocument): string[] {
  const operations = Object.values(before.paths).flatMap((methods) => Object.values(methods));
  const { schemas, responses, headers, parameters } = before.components;
  const sent = operations.map((operation) => [operation["parameters"], operation["requestBody"]]);
  const received = [operations.map((operation) => operation["responses"]), responses];
  const compareComponents = (
    location: "schemas" | "responses" | "headers" | "parameters",
    old: Json,
    isRequest: boolean,
  ) => changesIn(old, after.components[location], { location, isRequest, hasNames: true });
  const schemasOf = (users: unknown): Json => {
    const used = referencedSchemas(users, schemas);
    return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
  };
  const changes = [
    ...changesIn(before.paths, after.paths, { location: "paths", isRequest: true, hasNames: true }),
    ...compareComponents("responses", responses, false),
    ...compareComponents("headers", headers, false),
    ...compareComponents("parameters", parameters, true),
    ...compareComponents("schemas", schemasOf(sent), true),
    ...compareComponents("schemas", schemasOf(received), false),
  ];
  return [...new Set(changes)];
}
