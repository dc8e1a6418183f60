import { STATUS_CODES } from "node:http";
import { EXPOSED_HEADERS } from "../../lib/http/response.ts";
import { PROBLEM_JSON } from "../../lib/http/error-table.ts";
import { BODY_MAX_BYTES } from "../../lib/http/request-body.ts";
import { ResponseType, type RestApi } from "aws-cdk-lib/aws-apigateway";

interface GatewayResponse {
  /** @default the gateway's status for this type */
  readonly statusCode?: string;
  readonly error: string;
  /** Seconds in the `Retry-After` header. @default no header */
  readonly retryAfter?: number;
}

const notFound: GatewayResponse = { statusCode: "404", error: "no such path" };
const unauthorized: GatewayResponse = {
  statusCode: "401",
  error: "a valid API key is required: Authorization: Bearer <API_KEY>",
};
/** The gateway does not know for which path. */
const TOO_LARGE =
  `the request body must be at most ${BODY_MAX_BYTES} bytes; send more items in several batches, and a larger file by ` +
  'the form that POST /v1/work_items/upload gives for the JSON { "upload": { "filename", "size" } }';
const forbidden: GatewayResponse = { statusCode: "403", error: "forbidden" };
const internal: GatewayResponse = { statusCode: "500", error: "internal error" };
const busy: GatewayResponse = { statusCode: "503", error: "the service is busy; retry later", retryAfter: 1 };
const tooMany: GatewayResponse = { statusCode: "429", error: "rate limit exceeded; retry after 1 s", retryAfter: 1 };

/** The responses that the gateway sends itself. They have the same body as the functions' own errors. */
const GATEWAY_RESPONSES: readonly (readonly [ResponseType, GatewayResponse])[] = [
  // The path does not exist. No method here requires a signature, so these types have no other cause.
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, notFound],
  [ResponseType.INVALID_SIGNATURE, notFound],
  [ResponseType.RESOURCE_NOT_FOUND, notFound],
  [ResponseType.UNAUTHORIZED, unauthorized],
  [ResponseType.INVALID_API_KEY, unauthorized],
  [ResponseType.EXPIRED_TOKEN, unauthorized],
  [ResponseType.ACCESS_DENIED, forbidden],
  [ResponseType.WAF_FILTERED, forbidden],
  [ResponseType.BAD_REQUEST_PARAMETERS, { statusCode: "400", error: "malformed request" }],
  [ResponseType.BAD_REQUEST_BODY, { statusCode: "400", error: "malformed request body" }],
  [ResponseType.REQUEST_TOO_LARGE, { statusCode: "413", error: TOO_LARGE }],
  [
    ResponseType.UNSUPPORTED_MEDIA_TYPE,
    { statusCode: "415", error: "unsupported Content-Type, or a body that is not in its Content-Encoding" },
  ],
  [ResponseType.THROTTLED, tooMany],
  [ResponseType.QUOTA_EXCEEDED, tooMany],
  [ResponseType.INTEGRATION_FAILURE, busy],
  [ResponseType.INTEGRATION_TIMEOUT, busy],
  [ResponseType.API_CONFIGURATION_ERROR, internal],
  [ResponseType.AUTHORIZER_FAILURE, internal],
  [ResponseType.AUTHORIZER_CONFIGURATION_ERROR, internal],
  [ResponseType.DEFAULT_4XX, { error: "bad request" }],
  [ResponseType.DEFAULT_5XX, internal],
];

/**
 * The CORS headers of responses that no function makes. They cannot depend on the request: where several origins are
 * allowed, every page may read them, and they hold nothing but their fixed text.
 */
export function fixedCorsHeaders(allowedOrigins: readonly string[]): Readonly<Record<string, string>> {
  const [only, ...others] = allowedOrigins;
  if (only === undefined) return {};
  return {
    "Access-Control-Allow-Origin": others.length === 0 ? only : "*",
    "Access-Control-Expose-Headers": EXPOSED_HEADERS,
  };
}

/** A header value that is the same in every response. */
function fixed(value: string): string {
  return `'${value}'`;
}

/**
 * The body as problem details (RFC 9457), for callers that accept them. The gateway substitutes the request's id.
 * @returns nothing where the gateway itself chooses the status
 */
function problemTemplate({ statusCode, error }: GatewayResponse): Readonly<Record<string, string>> {
  if (statusCode === undefined) return {};
  const title = STATUS_CODES[statusCode] ?? "Error";
  const problem = { type: "about:blank", title, status: Number(statusCode), detail: error };
  return { [PROBLEM_JSON]: JSON.stringify({ ...problem, instance: "$context.requestId", errors: [], error }) };
}

/** Adds a response for every gateway response type, with the request id in a header. */
export function addGatewayResponses(api: RestApi, allowedOrigins: readonly string[]): void {
  const cors = Object.entries(fixedCorsHeaders(allowedOrigins)).map(([name, value]) => [name, fixed(value)] as const);
  for (const [type, response] of GATEWAY_RESPONSES) {
    const { statusCode, error, retryAfter } = response;
    api.addGatewayResponse(`Response${type.responseType}`, {
      type,
      ...(statusCode !== undefined && { statusCode }),
      responseHeaders: {
        "x-request-id": "context.requestId",
        ...(retryAfter !== undefined && { "Retry-After": fixed(String(retryAfter)) }),
        ...Object.fromEntries(cors),
      },
      templates: { "application/json": JSON.stringify({ error }), ...problemTemplate(response) },
    });
  }
}
