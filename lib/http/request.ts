import type { APIGatewayProxyEvent } from "aws-lambda";
import { InvalidInputError } from "../errors.ts";

/** Headers by lower-case name; the values of a repeated header are joined by commas (RFC 9110 §5.3). */
export function readHeaders({
  headers,
  multiValueHeaders,
}: Pick<APIGatewayProxyEvent, "headers" | "multiValueHeaders">): Record<string, string | undefined> {
  const read: Record<string, string | undefined> = Object.create(null);
  for (const [name, value] of Object.entries(headers ?? {})) read[name.toLowerCase()] = value;
  for (const [name, values] of Object.entries(multiValueHeaders ?? {})) {
    if (values?.length) read[name.toLowerCase()] = values.join(", ");
  }
  return read;
}

/**
 * Query parameters by name, and the names of those that must not be repeated but are.
 * @param repeatable names of parameters that may be repeated: their values are then lists
 */
export function readQuery(
  {
    queryStringParameters,
    multiValueQueryStringParameters,
  }: Pick<APIGatewayProxyEvent, "queryStringParameters" | "multiValueQueryStringParameters">,
  repeatable: readonly string[] = [],
) {
  const single = Object.entries(queryStringParameters ?? {});
  const multiple = Object.entries(multiValueQueryStringParameters ?? {});
  const isList = (name: string, values: string[] = []) => values.length > 1 && repeatable.includes(name);
  return {
    parameters: Object.fromEntries([
      ...single,
      ...multiple.map(([name, values]) => [name, isList(name, values) ? values : values?.at(-1)] as const),
    ]),
    repeated: multiple
      .filter(([name, values]) => (values?.length ?? 0) > 1 && !repeatable.includes(name))
      .map(([name]) => name),
  };
}

/** Whether a header such as `Accept` or `Accept-Encoding` names a value with a weight above 0. */
export function accepts(header: string | undefined, value: string): boolean {
  return (header ?? "").split(",").some((entry) => {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    return name === value && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

/**
 * The address of the service as the caller sees it, without a trailing slash. It may have a path: the gateway's stage,
 * or the base path of a custom domain name.
 * @param path of the requested route
 * @returns undefined if the event doesn't contain it, as in sample events
 */
export function addressOf(event: APIGatewayProxyEvent, path: string): string | undefined {
  const { domainName, path: requested } = event.requestContext;
  if (domainName === undefined || requested === undefined) return undefined;
  const protocol = readHeaders(event)["x-forwarded-proto"] ?? "https";
  const below = requested.replace(/\/$/, "");
  if (!below.endsWith(path)) return undefined;
  return `${protocol}://${domainName}${below.slice(0, -path.length)}`;
}

/**
 * The relative path from the requested one to the service's root, so that links work below any prefix, such as the
 * stage's name: `../../` for `/v1/work_items/{id}`.
 */
export function pathToRoot({ resource, path, pathParameters }: APIGatewayProxyEvent): string {
  const requested = resource.replaceAll(/\{(\w+)\+\}/g, (_, name: string) => pathParameters?.[name] ?? "");
  const levels = requested.split("/").length - 2 + (path.length > 1 && path.endsWith("/") ? 1 : 0);
  return levels <= 0 ? "./" : "../".repeat(levels);
}

/** A header such as Content-Type or Content-Disposition: `type/subtype; name=value; name="quoted value"`. */
export interface MediaType {
  /** Lower case. */
  readonly type: string;
  /** By lower-case name. */
  readonly parameters: ReadonlyMap<string, string>;
}

const parameter = /;\s*(?:([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;"]*)))?/y;

/** Parses such a header. @returns undefined if it is missing or malformed */
export function parseMediaType(header: string | undefined): MediaType | undefined {
  const type = /^\s*([^\s;,"]+)\s*/.exec(header ?? "");
  if (header === undefined || type === null) return undefined;
  const parameters = new Map<string, string>();
  parameter.lastIndex = type[0].length;
  while (parameter.lastIndex < header.length) {
    const match = parameter.exec(header);
    if (match === null) return undefined;
    const [, name, quoted, token] = match;
    if (name !== undefined)
      parameters.set(name.toLowerCase(), quoted?.replaceAll(/\\(["\\])/g, "$1") ?? token?.trim() ?? "");
    while (header[parameter.lastIndex] === " ") parameter.lastIndex += 1;
  }
  return { type: (type[1] ?? "").toLowerCase(), parameters };
}

const IDEMPOTENCY_KEY_MAX_CHARACTERS = 255;

/**
 * Reads the `Idempotency-Key` header.
 * @returns undefined if it is absent
 * @throws InvalidInputError unless it is 1 to 255 printable ASCII characters
 */
export function parseIdempotencyKey(headers: Readonly<Record<string, string | undefined>>): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined || (/^[\x20-\x7e]+$/.test(key) && key.length <= IDEMPOTENCY_KEY_MAX_CHARACTERS)) return key;
  const message = `must be 1 to ${IDEMPOTENCY_KEY_MAX_CHARACTERS} printable ASCII characters`;
  throw new InvalidInputError([{ path: ["Idempotency-Key"], code: "invalid_format", message, isParameter: true }]);
}
