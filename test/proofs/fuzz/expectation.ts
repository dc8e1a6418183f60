import { gunzipSync } from "node:zlib";
import { routes } from "../../../functions/routes.ts";
import { BODY_MAX_BYTES } from "../../../lib/http/request-body.ts";
import type { Route } from "../../../lib/http/route.ts";
import { differencesFrom, resolved } from "../../support/openapi/document-schemas.ts";
import type { WireRequest } from "./wire.ts";

/** What the document alone says of a request. It cannot say it of forms whose bytes were changed. */
export type Expectation = "accepted" | "refused" | "either";

const parametersOf = (path: readonly string[], place: string) =>
  ((resolved(path).value["parameters"] ?? []) as unknown[])
    .map((_, index) => resolved([...path, "parameters", String(index)]))
    .filter(({ value }) => value["in"] === place);

const textOrNumber = (text: string | undefined, schema: Readonly<Record<string, unknown>>): unknown =>
  schema["type"] === "integer" && /^[1-9]\d*$/.test(text ?? "") ? Number(text) : text;

const isQueryValid = (path: readonly string[], query: WireRequest["query"]): boolean => {
  const parameters = new Map(parametersOf(path, "query").map((each) => [String(each.value["name"]), each]));
  // The document says only in words that a feed begins at one place.
  if (query["after"] !== undefined && query["since"] !== undefined) return false;
  return Object.entries(query).every(([name, values]) => {
    const parameter = parameters.get(name);
    if (parameter === undefined) return false;
    const schema = resolved([...parameter.path, "schema"]);
    if (schema.value["type"] === "array") return differencesFrom(schema.path, values).length === 0;
    if (values.length !== 1) return false;
    return differencesFrom(schema.path, textOrNumber(values[0], schema.value)).length === 0;
  });
};

const lowerCased = (headers: WireRequest["headers"]): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const areHeadersValid = (path: readonly string[], headers: Readonly<Record<string, string>>): boolean =>
  parametersOf(path, "header").every((parameter) => {
    const value = headers[String(parameter.value["name"]).toLowerCase()];
    return value === undefined || differencesFrom([...parameter.path, "schema"], value).length === 0;
  });

/** The body without its coding; undefined if it cannot be had. */
const decoded = (body: Buffer, coding: string): Buffer | undefined => {
  if (["", "identity"].includes(coding)) return body;
  if (!["gzip", "x-gzip"].includes(coding)) return undefined;
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body;
  try {
    return gunzipSync(body, { maxOutputLength: BODY_MAX_BYTES });
  } catch {
    return undefined;
  }
};

const JSON_TYPE = /^application\/json(\s*;\s*charset="?utf-8"?)?$/i;

/**
 * A batch with `"on_invalid": "skip"` may hold anything as an item, which its schema doesn't say: generators would make a
 * union of it that no language can use. The document says it in words.
 */
const withoutSkippedItems = (value: unknown): unknown => {
  const { on_invalid: onInvalid, work_items: items } = Object(value) as { on_invalid?: unknown; work_items?: unknown };
  if (onInvalid !== "skip" || !Array.isArray(items)) return value;
  return { ...(value as object), work_items: items.map(() => ({ external_id: "any" })) };
};

const expectationOfBody = (
  path: readonly string[],
  body: Buffer,
  { "content-type": type = "", "content-encoding": coding = "" }: Readonly<Record<string, string>>,
): Expectation => {
  const bytes = decoded(body, coding);
  if (bytes === undefined || bytes.length > BODY_MAX_BYTES) return "refused";
  if (type.toLowerCase().startsWith("multipart/")) {
    const takesForms =
      resolved([...path, "requestBody", "content", "multipart/form-data"]).value["schema"] !== undefined;
    return takesForms ? "either" : "refused";
  }
  if (!JSON_TYPE.test(type)) return "refused";
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    const schema = [...path, "requestBody", "content", "application/json", "schema"];
    const problems = differencesFrom(schema, withoutSkippedItems(value));
    return problems.length === 0 ? "accepted" : "refused";
  } catch {
    return "refused";
  }
};

/** Whether a request is as the document says, as far as it can say. */
export const expectationOf = ({ name, query, headers: given, body }: WireRequest): Expectation => {
  const route: Route = routes[name];
  const path = ["paths", route.path, route.method.toLowerCase()];
  const headers = lowerCased(given);
  if (route.public !== true && headers["authorization"] !== undefined) return "refused";
  if (!isQueryValid(path, query) || !areHeadersValid(path, headers)) return "refused";
  return route.bodyKind === "none" || body === undefined ? "accepted" : expectationOfBody(path, body, headers);
};

/**
 * What makes an input invalid that no schema can say. The document says it in words.
 * Problems of mappings, of files and of cursors are more than a pattern too.
 */
const BEYOND_SCHEMAS = [
  /must not contain (lone surrogates|the NUL character)/,
  /must be nested at most 32 levels deep/,
  /is nested too deeply/,
  /must be at most \d+ bytes/,
  /must be a finite number/,
  /must not have a key named __proto__/,
  /must have at most 2000 events in all/,
  /must be in the years 0001 to 9999/,
  /is of another (organization|list|request)|cursor/,
  /can't be changed/,
  // URLs of webhooks.
  /must (be a URL|begin with https:|not have a user name|have port 443|not be an address)/,
  /was used/,
];

/** Whether a problem is one that the document's schemas can't express. */
export const isBeyondSchemas = (problem: {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly message: string;
}): boolean =>
  /^\/upload(\/mapping|\[)/.test(problem.pointer ?? "") ||
  problem.parameter === "cursor" ||
  problem.parameter === "after" ||
  BEYOND_SCHEMAS.some((pattern) => pattern.test(problem.message));
