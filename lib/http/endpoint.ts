import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import { createDynamoDbClient } from "../aws/dynamodb-client.ts";
import { codeOf } from "../aws/error-codes.ts";
import { type ClientFactories, lambda, type Runtime } from "../aws/runtime.ts";
import { RateLimitExceededError } from "../errors.ts";
import { createAccessStore } from "../organizations/access-store.ts";
import { type Caller, createAuthenticate } from "../organizations/authenticate.ts";
import { createNoteKeyUse } from "../organizations/key-use.ts";
import type { Organization } from "../organizations/organization.ts";
import { createRateLimiter, type Quota } from "../organizations/rate-limit.ts";
import { MalformedRecordError } from "../store/decode-record.ts";
import { type Call, callOf, type RouteResponse, toResult } from "./call.ts";
import type { Middleware } from "./middleware.ts";
import { gatewayHandler } from "./public-endpoint.ts";
import type { ReadBody } from "./request-body.ts";
import type { EdgePermissions, Route } from "./route.ts";
import { assertMayBegin } from "./scopes.ts";

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

/** A response for a key without the scope `read`. */
function withoutRead<R extends Route>(route: R, response: RouteResponse<R>, request: unknown): RouteResponse<R> {
  const body = route.withoutRead?.(response.body as object, request) ?? response.body;
  return { ...response, body: body as typeof response.body };
}

type EdgeRuntime = Runtime<EdgePermissions>;

/**
 * Finds the caller, checks the scope of its key, and debits its organization's rate limit. Every response
 * reports what is left.
 */
function authenticationAndRateLimit(route: Route, runtime: EdgeRuntime): Middleware {
  const { environment, clock, log } = runtime;
  const metrics = new Metrics();
  const authenticate = createAuthenticate({
    region: environment.REGION_CODE,
    store: createAccessStore(runtime),
    clock,
  });
  const admit = createRateLimiter(runtime, (error) => {
    metrics.singleMetric().addMetric("LimiterFailedOpen", MetricUnit.Count, 1);
    // The message of a damaged record's error names its organization.
    log.warn("rate limiter failed open", {
      reason: error instanceof MalformedRecordError ? error.message : codeOf(error),
    });
  });
  const noteKeyUse = createNoteKeyUse(runtime);
  const addHeaders: Middleware["after"] = ({ event, response, error }) => {
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
      assertMayBegin(route, caller.scopes);
      [progress.quota] = await Promise.all([admit(caller.organization), noteKeyUse(caller.keyId)]);
    },
    after: addHeaders,
    onError: addHeaders,
  };
}

function bodyReader(readBody: ReadBody): Middleware {
  return {
    before: async ({ event }) => {
      event.progress.body = await readBody(event, event.progress.headers);
    },
  };
}

/** Handles a call of an organization. */
type EndpointHandler<R extends Route> = (call: Call<R> & Caller) => Promise<RouteResponse<R>>;

/** What only some endpoints need in their bundle: a reader for the route's `bodyKind`, and clients other than DynamoDB's. */
type Parts<R extends Route> = Omit<ClientFactories<R["permissions"]>, "dynamodb"> & {
  readonly readBody?: ReadBody;
} & (R["bodyKind"] extends "none" ? object : { readonly readBody: ReadBody });

/**
 * The function of an endpoint with a key. In order: request id and log, headers of all responses, authentication (401),
 * scopes of the key (403), rate limit (429), body (413, 415, 400), validation (422), scopes that depend on the body (403),
 * handler, error table. An endpoint that takes no body ignores it. The caches of keys and limits live as long as the instance.
 * @param prepare makes the handler, once for each instance
 */
export function endpoint<R extends Route & { readonly permissions: EdgePermissions }>(
  route: R,
  parts: Parts<R>,
  prepare: (runtime: Runtime<R["permissions"]>) => EndpointHandler<R>,
) {
  const { readBody, ...clients }: { readonly readBody?: ReadBody } = parts;
  const factories = { dynamodb: createDynamoDbClient, ...clients } as ClientFactories<R["permissions"]>;
  return lambda(route.permissions as R["permissions"], factories, (runtime: Runtime<R["permissions"]>) => {
    const handle = prepare(runtime);
    const middleware = [
      authenticationAndRateLimit(route, runtime as unknown as EdgeRuntime),
      ...(readBody === undefined ? [] : [bodyReader(readBody)]),
    ];
    return gatewayHandler(route.name, runtime, middleware, async (event, context) => {
      const call = callOf(route, runtime.clock, event, context);
      const { caller } = event.progress;
      if (caller === undefined) throw new Error("the caller was not authenticated");
      const response = await handle({ ...call, ...caller });
      const body = call.body ?? call.fields;
      return toResult(route, event, caller.scopes.includes("read") ? response : withoutRead(route, response, body));
    });
  });
}
