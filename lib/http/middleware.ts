import { randomUUID } from "node:crypto";
import type middy from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type { Runtime } from "../aws/runtime.ts";
import type { Clock } from "../clock.ts";
import { UnauthenticatedError } from "../errors.ts";
import type { Caller } from "../organizations/authenticate.ts";
import type { Quota } from "../organizations/rate-limit.ts";
import { readHeaders } from "./request.ts";
import type { RequestBody } from "./request-body.ts";

/** A function behind API Gateway's REST proxy integration. */
export type ApiHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** What the middleware has found out about a request so far. */
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
  /** The outcome of each work item that the call writes, by id; "unknown" before it is written. */
  readonly written: Map<string, string>;
  /** What a handler adds to the request's log line. */
  logged?: Readonly<Record<string, string>> | undefined;
}

/** The gateway's event as middy passes it on, with what the middleware has found out about the request. */
export interface ApiEvent extends APIGatewayProxyEvent {
  readonly progress: Progress;
}

/** Makes a function's handler from one with middleware. */
export function apiHandler(
  clock: Clock,
  handle: (event: ApiEvent, context: Context) => Promise<APIGatewayProxyResult>,
): ApiHandler {
  return (event, context) => {
    const requestId = event.requestContext?.requestId || context.awsRequestId || randomUUID();
    const progress = { requestId, startedAt: clock(), headers: readHeaders(event), written: new Map<string, string>() };
    return handle({ ...event, progress }, context);
  };
}

/** middy runs `before` in order of attachment, `after` and `onError` in reverse order. */
export type Middleware = middy.MiddlewareObj<ApiEvent, APIGatewayProxyResult>;

/** What may be logged of an error. Its other properties (a `cause`, a request) may be a customer's data. */
export function loggedError(error: unknown) {
  return error instanceof Error
    ? { name: error.name, message: error.message, stack: error.stack }
    : { name: typeof error };
}

function bytesOf(body: string | null | undefined, isBase64 = false): number {
  return Buffer.byteLength(body ?? "", isBase64 ? "base64" : "utf8");
}

/**
 * The work items that a call has or may have written: `<id>:<outcome>`, separated by spaces. One text, because Logs
 * Insights finds at most 200 fields in a line. A rejected call has written none.
 */
function itemsIn(written: ReadonlyMap<string, string>, status: number): { readonly items?: string } {
  const changed = [...written].filter(([, outcome]) => outcome !== "unchanged" && outcome !== "not_found");
  const isRejected = status >= 400 && status < 500;
  return isRejected || changed.length === 0 ? {} : { items: changed.map((entry) => entry.join(":")).join(" ") };
}

/**
 * Runs last for responses: adds `x-request-id` to every response and writes one log line for every request. The line
 * contains no bodies and no API keys, only IDs of the key and of the work items that were written. For a 5xx it contains
 * the error.
 */
export function requestIdAndLog(route: string, { clock, log }: Pick<Runtime<object>, "clock" | "log">): Middleware {
  const finish: Middleware["after"] = ({ event, response, error }) => {
    if (!response) return;
    const { requestId, startedAt, caller, written, logged } = event.progress;
    response.headers = { ...response.headers, "x-request-id": requestId };
    const owner = error instanceof UnauthenticatedError ? error.owner : undefined;
    const line = {
      request_id: requestId,
      route,
      organization: caller?.organization.id ?? owner?.organization,
      key: caller?.keyId ?? owner?.key,
      status: response.statusCode,
      duration_ms: clock() - startedAt,
      request_bytes: bytesOf(event.body, event.isBase64Encoded),
      response_bytes: bytesOf(response.body, response.isBase64Encoded),
      ...itemsIn(written, response.statusCode),
      ...logged,
    };
    if (response.statusCode < 500) log.info("request", line);
    else log.error("request", { ...line, error: loggedError(error) });
  };
  return { after: finish, onError: finish };
}
