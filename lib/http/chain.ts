import type middyChain from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type { Organization } from "../organizations/organization.ts";
import type { ParsedBody } from "./body.ts";

/** What the API Gateway's REST proxy integration calls. */
export type ApiHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** What the steps of a chain learn of a request, one after the other. */
export interface Progress {
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  organization?: Organization;
  parsed?: ParsedBody;
}

/** One step that all requests pass. middy runs `before` in order of attachment, `after` and `onError` in reverse. */
export type Step = middyChain.MiddlewareObj<
  APIGatewayProxyEvent,
  APIGatewayProxyResult,
  Error,
  Context,
  { progress: Progress }
>;

export const jsonResult = (
  statusCode: number,
  headers: Readonly<Record<string, string>> | undefined,
  body: unknown,
): APIGatewayProxyResult => ({
  statusCode,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});
