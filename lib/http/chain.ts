import { randomUUID } from "node:crypto";
import type middyChain from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type { Clock } from "../clock.ts";
import type { Caller } from "../organizations/authenticate.ts";
import type { Quota } from "../organizations/rate-limit.ts";
import { readHeaders } from "./request.ts";
import type { RequestBody } from "./request-body.ts";

/** A function behind API Gateway's REST proxy integration. */
export type ApiHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** What the steps of the middleware chain have found out about a request so far. */
interface Progress {
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Set by authentication. */
  caller?: Caller;
  /** Set by the rate limit. */
  quota?: Quota;
  /** Set if the route takes a body. */
  body?: RequestBody;
  /** What a handler adds to the request's log line. */
  logged?: Readonly<Record<string, string>> | undefined;
}

/** The gateway's event as middy passes it on, with what the chain has found out about the request. */
export interface ApiEvent extends APIGatewayProxyEvent {
  readonly progress: Progress;
}

/** Makes a function's handler of a middleware chain. */
export function apiHandler(
  clock: Clock,
  chain: (event: ApiEvent, context: Context) => Promise<APIGatewayProxyResult>,
): ApiHandler {
  return (event, context) => {
    const requestId = event.requestContext?.requestId || context.awsRequestId || randomUUID();
    return chain({ ...event, progress: { requestId, startedAt: clock(), headers: readHeaders(event) } }, context);
  };
}

/** One step of the chain. middy runs `before` in order of attachment, `after` and `onError` in reverse order. */
export type Step = middyChain.MiddlewareObj<ApiEvent, APIGatewayProxyResult>;

/** A response with a body that is sent as it is. */
export function textResponse(
  statusCode: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): APIGatewayProxyResult {
  return { statusCode, headers: { ...headers }, body };
}

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
