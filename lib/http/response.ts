import type { APIGatewayProxyResult } from "aws-lambda";
import type { Environment } from "../aws/environment.ts";
import type { Middleware } from "./middleware.ts";

/** A response with a JSON body. */
export function jsonResponse(
  statusCode: number,
  headers: Readonly<Record<string, string>> | undefined,
  body: unknown,
): APIGatewayProxyResult {
  return {
    statusCode,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

/**
 * Lambda accepts 6,291,556 bytes of result (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html) as
 * JSON, in which the response's body is a string: its quotes and backslashes count twice. The difference to this limit
 * is reserved for headers and the rest of the body.
 */
const RESPONSE_MAX_BYTES = 5.5 * 1024 * 1024;

/** The only characters of JSON text that are escaped when the text becomes a JSON string. */
const ESCAPED = /["\\]/g;

function lambdaBytes(json: string): number {
  return Buffer.byteLength(json) + (json.match(ESCAPED)?.length ?? 0);
}

/** How many of the first values fit into one response. @param rest the other content of the response */
export function countFitting(values: readonly unknown[], rest: unknown = null): number {
  const restText = JSON.stringify(rest);
  const texts = values.map((value) => JSON.stringify(value));
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, Buffer.byteLength(restText));
  // Nearly always true, and cheap to check: escaping can at most double the size.
  if (2 * bytes <= RESPONSE_MAX_BYTES) return values.length;
  let left = RESPONSE_MAX_BYTES - lambdaBytes(restText);
  for (const [index, text] of texts.entries()) {
    left -= lambdaBytes(text) + 1;
    if (left < 0) return index;
  }
  return values.length;
}

/** Makes the function that reserves room for values in one response. It returns false if they don't all fit. */
export function createRoom(): (values: readonly unknown[]) => boolean {
  let left = RESPONSE_MAX_BYTES;
  return (values) => {
    const needed = values.reduce<number>((sum, value) => sum + lambdaBytes(JSON.stringify(value)) + 1, 0);
    if (needed > left) return false;
    left -= needed;
    return true;
  };
}

/** Response headers that pages of allowed origins may read, in addition to those that every page may. */
export const EXPOSED_HEADERS = "ETag, Retry-After, RateLimit, RateLimit-Policy, x-request-id";
/** Request headers that pages of allowed origins may send, in addition to those that every page may. */
const ALLOWED_HEADERS = "Authorization, Content-Encoding, Content-Type, Idempotency-Key, If-Match, If-None-Match";
/** Browsers cap it at two hours or less. */
const PREFLIGHT_SECONDS = 7200;

/**
 * The headers by which a page of another origin may read the response
 * (https://fetch.spec.whatwg.org/#http-cors-protocol).
 * @returns undefined if the origin is not allowed, or the request has none
 */
export function corsHeaders(
  allowedOrigins: readonly string[],
  origin: string | undefined,
): Readonly<Record<string, string>> | undefined {
  return origin !== undefined && allowedOrigins.includes(origin)
    ? { "access-control-allow-origin": origin, "access-control-expose-headers": EXPOSED_HEADERS }
    : undefined;
}

/** The headers of the response to a preflight request, in addition to those above. */
export function preflightHeaders(methods: readonly string[]): Readonly<Record<string, string>> {
  return {
    "access-control-allow-methods": methods.join(", "),
    "access-control-allow-headers": ALLOWED_HEADERS,
    "access-control-max-age": String(PREFLIGHT_SECONDS),
  };
}

/**
 * Adds to every response the request headers that it depends on, and the pages that may read it. A response to HEAD has
 * no body.
 */
export function responseHeaders({ environment }: { readonly environment: Environment<object> }): Middleware {
  const { ALLOWED_ORIGINS: origins } = environment;
  const vary = ["Accept", "Accept-Encoding", ...(origins.length > 0 ? ["Origin"] : [])].join(", ");
  const complete: Middleware["after"] = ({ event, response }) => {
    if (!response) return;
    const { origin } = event.progress.headers;
    response.headers = { ...response.headers, vary, ...corsHeaders(origins, origin) };
    if (event.httpMethod === "HEAD") response.body = "";
  };
  return { after: complete, onError: complete };
}
