import type middyChain from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type { Caller } from "../organizations/authenticate.ts";
import type { Quota } from "../organizations/rate-limit.ts";
import type { RequestBody } from "./request-body.ts";

/** A function behind API Gateway's REST proxy integration. */
export type ApiHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** What the steps of the middleware chain have found out about a request so far. */
export interface Progress {
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
}

const requests = new WeakMap<APIGatewayProxyEvent, Progress>();

/** Stores the progress of a request when the chain starts. */
export function beginProgress(event: APIGatewayProxyEvent, progress: Progress): void {
  requests.set(event, progress);
}

/** The progress of a request. @throws Error if the chain's first step has not run */
export function progressOf(event: APIGatewayProxyEvent): Progress {
  const progress = requests.get(event);
  if (progress === undefined) throw new Error("the chain has not started");
  return progress;
}

/** One step of the chain. middy runs `before` in order of attachment, `after` and `onError` in reverse order. */
export type Step = middyChain.MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

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
