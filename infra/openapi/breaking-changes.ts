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
  const named = (parameters as Json[]).map(
    (each) =>
      [
        Object.values({ $ref: each["$ref"], in: each["in"], name: each["name"] }).filter(Boolean).join(" "),
        each,
      ] as const,
  );
  const required = named.flatMap(([name, each]) => (each["required"] === true ? [name] : []));
  return { properties: Object.fromEntries(named.map(([name, each]) => [name, each["schema"] ?? {}])), required };
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

/** Requests must still be accepted. Responses must still have what they had, and no values that callers can't know. */
function compare(old: Json, now: Json, location: string, isRequest: boolean, areNames = false): string[] {
  return Object.keys({ ...old, ...now }).flatMap((key) => {
    const at = `${location}.${key}`;
    let [before, after] = [old[key], now[key]];
    if (!areNames && PROSE.has(key)) return [];
    if (!areNames && key === "requestBody") [before, after] = [before ?? {}, after ?? {}];
    if (Array.isArray(before ?? after) && key === "parameters") {
      before = parametersAsObject(before);
      after = withoutNewLists(before as Json, parametersAsObject(after));
    }
    if (isObject(before) && isObject(after) && key !== "not") {
      return compare(before, after, at, isRequest && key !== "responses", !areNames && NAMED.has(key));
    }
    const [narrow, wide] = isRequest ? [after, before] : [before, after];
    const limit = isRequest ? LIMIT : LIMIT_OF_RESPONSES;
    let isBroken = before !== undefined && !isDeepStrictEqual(before, after);
    if (Array.isArray(narrow) && Array.isArray(wide) && key === "anyOf") {
      // Each alternative of the wider schema must be covered by one of the narrower.
      isBroken = !wide.every((one: Json) =>
        narrow.some((other: Json) => {
          const changes = isRequest ? compare(one, other, at, true) : compare(other, one, at, false);
          return changes.length === 0;
        }),
      );
    } else if (!areNames && GROWING.has(key)) isBroken = before !== undefined && isNarrower(key, after ?? [], before);
    else if (!areNames && LIMIT.test(key)) isBroken = limit.test(key) && isNarrower(key, narrow, wide);
    return isBroken ? [`${at}: ${after === undefined ? "is removed" : `is now ${JSON.stringify(after)}`}`] : [];
  });
}

/**
 * What a new document breaks for callers that follow the old one. New operations, properties and optional parameters
 * break nothing.
 * @returns a line for each breaking change, with its location in the document
 */
export function breakingChanges(before: OpenApiDocument, after: OpenApiDocument): string[] {
  const operations = Object.values(before.paths).flatMap((methods) => Object.values(methods));
  const { schemas, responses } = before.components;
  const requests = operations.map(({ parameters, requestBody }) => [parameters, requestBody]);
  const compareSchemas = (users: unknown, isRequest: boolean): string[] => {
    const used = referencedSchemas(users, schemas);
    const old = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
    return compare(old, after.components.schemas, "schemas", isRequest, true);
  };
  const changes = [
    ...compare(before.paths, after.paths, "paths", true, true),
    ...compare(responses, after.components.responses, "responses", false, true),
    ...compare(before.components.headers, after.components.headers, "headers", false, true),
    ...compare(before.components.parameters, after.components.parameters, "parameters", true, true),
    ...compareSchemas(requests, true),
    ...compareSchemas([operations.map((operation) => operation["responses"]), responses], false),
  ];
  return [...new Set(changes)];
}
