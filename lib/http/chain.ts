import type middyChain from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type { Organization } from "../organizations/organization.ts";
import type { RequestBody } from "./request-body.ts";

/** What the API Gateway's REST proxy integration calls. */
export type ApiHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** What the steps of a chain learn of a request, one after the other. */
export interface Progress {
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Set by authentication. */
  organization?: Organization;
  /** Set where the route takes a body. */
  body?: RequestBody;
}

const requests = new WeakMap<APIGatewayProxyEvent, Progress>();

/** Begins to keep what the chain learns of a request. */
export const beginProgress = (event: APIGatewayProxyEvent, progress: Progress): void => {
  requests.set(event, progress);
};

/** @throws Error where the chain's first step has not run */
export const progressOf = (event: APIGatewayProxyEvent): Progress => {
  const progress = requests.get(event);
  if (progress === undefined) throw new Error("the chain has not begun");
  return progress;
};

/** One step that all requests pass. middy runs `before` in order of attachment, `after` and `onError` in reverse. */
export type Step = middyChain.MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

export const jsonResponse = (
  statusCode: number,
  headers: Readonly<Record<string, string>> | undefined,
  body: unknown,
): APIGatewayProxyResult => ({
  statusCode,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});
