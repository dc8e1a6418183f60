import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import middyChain from "@middy/core";
import type { APIGatewayProxyResult, Context } from "aws-lambda";
import { codeOf } from "../aws/error-codes.ts";
import type { Runtime } from "../aws/runtime.ts";
import { RateLimitExceededError, StoreBusyError } from "../errors.ts";
import { createAccessStore } from "../organizations/access-store.ts";
import { type Caller, createAuthenticate } from "../organizations/authenticate.ts";
import { createNoteKeyUse } from "../organizations/key-use.ts";
import type { Organization } from "../organizations/organization.ts";
import { type Quota, RateLimiter } from "../organizations/rate-limit.ts";
import { MalformedRecordError } from "../store/decode-record.ts";
import { type Call, callOf, type RouteResponse, TIMEOUT_MARGIN_MILLISECONDS, toResult } from "./call.ts";
import { type ApiEvent, apiHandler, type ApiHandler, requestIdAndLog, type Step } from "./chain.ts";
import { errorTable } from "./error-table.ts";
import type { ReadBody } from "./request-body.ts";
import { responseHeaders } from "./response.ts";
import { assertScope, type EdgePermissions, type Route } from "./route.ts";

/** Name of the limit in both headers. */
const POLICY = '"organization"';

/**
 * The limit of an organization and what is left of it, as draft-ietf-httpapi-ratelimit-headers-10 writes them. The
 * policy is the burst, and the seconds in which the rate makes all of it available again.
 */
function rateLimitHeaders({ rate, burst }: Pick<Organization, "rate" | "burst">, { remaining, resetSeconds }: Quota) {
  return {
    "ratelimit-policy": `${POLICY};q=${burst};w=${Math.ceil(burst / rate)}`,
    ratelimit: `${POLICY};r=${remaining};t=${resetSeconds}`,
  };
}

type EdgeRuntime = Runtime<EdgePermissions>;

/**
 * Finds the caller, checks the scope of its key, and debits its organization's rate limit. Every response
 * reports what is left.
 */
function authenticationAndRateLimit(route: Route, runtime: EdgeRuntime): Step {
  const { environment, clock, log } = runtime;
  const metrics = new Metrics();
  const authenticate = createAuthenticate({
    region: environment.REGION_CODE,
    store: createAccessStore(runtime),
    clock,
  });
  const limiter = new RateLimiter(runtime, (error) => {
    metrics.singleMetric().addMetric("LimiterFailedOpen", MetricUnit.Count, 1);
    // Of a damaged record, the message says whose it is.
    log.warn("rate limiter failed open", {
      reason: error instanceof MalformedRecordError ? error.message : codeOf(error),
    });
  });
  const noteKeyUse = createNoteKeyUse(runtime);
  const addHeaders: Step["after"] = ({ event, response, error }) => {
    const { caller, quota } = event.progress;
    const left =
      error instanceof RateLimitExceededError ? { remaining: 0, resetSeconds: error.retryAfterSeconds } : quota;
    if (!response || caller === undefined || left === undefined) return;
    response.headers = { ...response.headers, ...rateLimitHeaders(caller.organization, left) };
  };
  return {
    before: async ({ event }) => {
      const { progress } = event;
      const caller = await authenticate(progress.headers["authorization"]);
      progress.caller = caller;
      assertScope(route, caller.scopes);
      [progress.quota] = await Promise.all([limiter.admit(caller.organization), noteKeyUse(caller.keyId)]);
    },
    after: addHeaders,
    onError: addHeaders,
  };
}

function bodyReader(readBody: ReadBody): Step {
  return {
    before: async ({ event }) => {
      event.progress.body = await readBody(event, event.progress.headers);
    },
  };
}

function outOfTime(): never {
  throw new StoreBusyError("the service ran out of time; retry later");
}

/** Handles a call of an organization. */
type EndpointHandler<R extends Route> = (call: Call<R> & Caller) => Promise<RouteResponse<R>>;

/**
 * The middleware chain of every endpoint with a key: request id and log, headers of all responses, authentication
 * (401), scope of the key (403), rate limit (429), body (413, 415, 400), validation (422), handler, error table. The
 * caches of keys and limits live as long as the handler.
 */
function createChain<R extends Route>(
  route: R,
  runtime: EdgeRuntime,
  readBody: ReadBody | undefined,
  handle: EndpointHandler<R>,
): ApiHandler {
  const chain = middyChain<ApiEvent, APIGatewayProxyResult>({
    timeoutEarlyInMillis: TIMEOUT_MARGIN_MILLISECONDS,
    timeoutEarlyResponse: outOfTime,
  })
    .use(requestIdAndLog(route.name, runtime))
    .use(responseHeaders(runtime))
    .use(authenticationAndRateLimit(route, runtime))
    .use(readBody === undefined ? [] : [bodyReader(readBody)])
    .use(errorTable)
    .handler(async (event: ApiEvent, context: Context): Promise<APIGatewayProxyResult> => {
      const call = callOf(route, runtime.clock, event, context);
      const { caller } = event.progress;
      if (caller === undefined) throw new Error("the caller was not authenticated");
      assertScope(route, caller.scopes, call.body);
      return toResult(route, event, await handle({ ...call, ...caller }));
    });
  return apiHandler(runtime.clock, chain);
}

/** An endpoint that takes no body; a body that is sent is ignored. */
export function endpoint<const R extends Route & { readonly bodyKind: "none" }>(
  route: R,
  runtime: EdgeRuntime,
  handle: EndpointHandler<R>,
): ApiHandler {
  return createChain(route, runtime, undefined, handle);
}

/** An endpoint that takes a body. @param readBody reader for the route's `bodyKind`, the only one in the bundle */
export function endpointWithBody<
  const R extends Route & { readonly bodyKind: "json" | "optional-json" | "multipart-or-json" },
>(route: R, runtime: EdgeRuntime, readBody: ReadBody, handle: EndpointHandler<R>): ApiHandler {
  return createChain(route, runtime, readBody, handle);
}
