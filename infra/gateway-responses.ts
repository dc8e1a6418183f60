import { STATUS_CODES } from "node:http";
import { RateLimitExceededError, StoreBusyError, UnauthenticatedError } from "../lib/errors.ts";
import { EXPOSED_HEADERS } from "../lib/http/response.ts";
import { PROBLEM_JSON } from "../lib/http/error-table.ts";
import { BODY_MAX_BYTES } from "../lib/http/request-body.ts";

/** A response that the gateway sends itself. */
interface GatewayResponse {
  /** @default the gateway's status for this type */
  readonly statusCode?: string;
  readonly error: string;
  /** Seconds in the `Retry-After` header. @default no header */
  readonly retryAfter?: number;
}

const notFound: GatewayResponse = { statusCode: "404", error: "no such path" };
const unauthorized: GatewayResponse = { statusCode: "401", error: new UnauthenticatedError().message };
/** For any path: the gateway doesn't know which. */
const TOO_LARGE =
  `the request body must be at most ${BODY_MAX_BYTES} bytes; send more items in several batches, and a larger file by ` +
  'the form that POST /v1/work_items/upload gives for the JSON { "upload": { "filename", "size" } }';
const forbidden: GatewayResponse = { statusCode: "403", error: "forbidden" };
const internal: GatewayResponse = { statusCode: "500", error: "internal error" };
function withRetry(statusCode: string, error: StoreBusyError | RateLimitExceededError): GatewayResponse {
  return { statusCode, error: error.message, retryAfter: error.retryAfterSeconds };
}
const busy = withRetry("503", new StoreBusyError());
const tooMany = withRetry("429", new RateLimitExceededError(1));

const RESPONSES = {
  // The path does not exist. No method here requires a signature, so these types have no other cause.
  MISSING_AUTHENTICATION_TOKEN: notFound,
  INVALID_SIGNATURE: notFound,
  RESOURCE_NOT_FOUND: notFound,
  UNAUTHORIZED: unauthorized,
  INVALID_API_KEY: unauthorized,
  EXPIRED_TOKEN: unauthorized,
  ACCESS_DENIED: forbidden,
  WAF_FILTERED: forbidden,
  BAD_REQUEST_PARAMETERS: { statusCode: "400", error: "malformed request" },
  BAD_REQUEST_BODY: { statusCode: "400", error: "malformed request body" },
  REQUEST_TOO_LARGE: { statusCode: "413", error: TOO_LARGE },
  UNSUPPORTED_MEDIA_TYPE: {
    statusCode: "415",
    error: "unsupported Content-Type, or a body that is not in its Content-Encoding",
  },
  THROTTLED: tooMany,
  QUOTA_EXCEEDED: tooMany,
  INTEGRATION_FAILURE: busy,
  INTEGRATION_TIMEOUT: busy,
  // Lambda has rejected the call, nearly always because no more may run at once
  // (https://docs.aws.amazon.com/lambda/latest/dg/services-apigateway-errors.html).
  API_CONFIGURATION_ERROR: busy,
  AUTHORIZER_FAILURE: internal,
  AUTHORIZER_CONFIGURATION_ERROR: internal,
  DEFAULT_4XX: { error: "bad request" },
  DEFAULT_5XX: internal,
} as const satisfies Record<string, GatewayResponse>;

/** A type of gateway response. */
export type GatewayResponseType = keyof typeof RESPONSES;

/** The responses that the gateway sends itself, by type. They have the same body as the functions' own errors. */
export const GATEWAY_RESPONSES: Readonly<Record<GatewayResponseType, GatewayResponse>> = RESPONSES;

/**
 * The CORS headers of responses that no function makes. They can't depend on the request. If several origins are allowed,
 * every page may read these responses, which contain only fixed text.
 */
export function fixedCorsHeaders(allowedOrigins: readonly string[]): Readonly<Record<string, string>> {
  const [only, ...others] = allowedOrigins;
  if (only === undefined) return {};
  return {
    "Access-Control-Allow-Origin": others.length === 0 ? only : "*",
    "Access-Control-Expose-Headers": EXPOSED_HEADERS,
  };
}

/** Headers of a response, except `Content-Type` and the request's id. */
export function gatewayHeaders(
  type: GatewayResponseType,
  allowedOrigins: readonly string[],
): Readonly<Record<string, string>> {
  const { retryAfter } = GATEWAY_RESPONSES[type];
  return {
    ...(retryAfter !== undefined && { "Retry-After": String(retryAfter) }),
    ...fixedCorsHeaders(allowedOrigins),
  };
}

/**
 * Bodies of a response by media type. Callers that accept problem details (RFC 9457) get them, unless the gateway itself
 * chooses the status. The gateway substitutes `$context.requestId`.
 */
export function gatewayTemplates(type: GatewayResponseType): Readonly<Record<string, string>> {
  const { statusCode, error } = GATEWAY_RESPONSES[type];
  const plain = { "application/json": JSON.stringify({ error }) };
  if (statusCode === undefined) return plain;
  const title = STATUS_CODES[statusCode] ?? "Error";
  const problem = { type: "about:blank", title, status: Number(statusCode), detail: error };
  return {
    ...plain,
    [PROBLEM_JSON]: JSON.stringify({ ...problem, instance: "$context.requestId", errors: [], error }),
  };
}
