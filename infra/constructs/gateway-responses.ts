import { ResponseType, type RestApi } from "aws-cdk-lib/aws-apigateway";

interface Answer {
  /** @default the status that the gateway would give */
  readonly statusCode?: string;
  readonly error: string;
  /** Seconds. @default no header */
  readonly retryAfter?: number;
}

const notFound: Answer = { statusCode: "404", error: "no such path" };
const unauthorized: Answer = {
  statusCode: "401",
  error: "a valid API key is required: Authorization: Bearer <API_KEY>",
};
const forbidden: Answer = { statusCode: "403", error: "forbidden" };
const internal: Answer = { statusCode: "500", error: "internal error" };
const busy: Answer = { statusCode: "503", error: "the service is busy; retry later", retryAfter: 1 };
const tooMany: Answer = { statusCode: "429", error: "rate limit exceeded; retry after 1 s", retryAfter: 1 };

/** What the gateway says by itself, in the words and the shape of our own errors. */
const ANSWERS: readonly (readonly [ResponseType, Answer])[] = [
  // A path that nothing matches: no method here asks for a signature, so that is the only way to these two.
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
  [ResponseType.REQUEST_TOO_LARGE, { statusCode: "413", error: "the request body is too large" }],
  [ResponseType.UNSUPPORTED_MEDIA_TYPE, { statusCode: "415", error: "unsupported Content-Type" }],
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

export const addGatewayResponses = (api: RestApi): void => {
  for (const [type, { statusCode, error, retryAfter }] of ANSWERS) {
    api.addGatewayResponse(`Response${type.responseType}`, {
      type,
      ...(statusCode !== undefined && { statusCode }),
      responseHeaders: {
        "x-request-id": "context.requestId",
        ...(retryAfter !== undefined && { "Retry-After": `'${retryAfter}'` }),
      },
      templates: { "application/json": JSON.stringify({ error }) },
    });
  }
};
