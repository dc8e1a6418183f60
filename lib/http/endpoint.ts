import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import middyChain from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type * as z from "zod";
import { StoreBusyError } from "../errors.ts";
import { createAccessStore } from "../organizations/access-store.ts";
import { createAuthenticate } from "../organizations/authenticate.ts";
import type { Organization } from "../organizations/organization.ts";
import { createRateLimiter } from "../organizations/rate-limit.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { type ApiHandler, jsonResponse, progressOf, type Step } from "./chain.ts";
import { errorTable } from "./error-table.ts";
import type { UploadedFile } from "./multipart.ts";
import { readParams, readQuery } from "./request.ts";
import type { ReadBody } from "./request-body.ts";
import { requestIdAndLog } from "./request-log.ts";
import type { EdgePermissions, Route } from "./route.ts";
import { refuseProblems, validate } from "./validation.ts";

/** A request that passed the chain: who calls, and what, as the route's schemas gave it. */
interface Call<R extends Route> {
  readonly organization: Organization;
  /** Ids in the path: UUIDs in lower case. What is none comes as the empty string, which names nothing: it is not found. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: z.output<R["query"]>;
  readonly body: z.output<R["body"]>;
  /** The field `upload[file]`, on routes that take multipart, where the request is multipart. */
  readonly file: UploadedFile | undefined;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requestId: string;
  /** Milliseconds since the epoch when the function must have responded. */
  readonly deadline: number;
}

interface RouteResponse<R extends Route> {
  /** @default the route's status */
  readonly status?: number;
  readonly body: z.input<R["response"]>;
  readonly headers?: Readonly<Record<string, string>>;
}

type EdgeRuntime = Runtime<EdgePermissions>;

/** Where the invocation does not say, as in tests: API Gateway's own limit. */
const TIMEOUT_MILLISECONDS_DEFAULT = 29_000;
/** Kept from the function's time for the response that says that time ran out. */
const TIMEOUT_MARGIN_MILLISECONDS = 500;

/** Who calls, and whether that organization has requests left. */
const authenticationAndRateLimit = (runtime: EdgeRuntime): Step => {
  const { environment, clock, log } = runtime;
  const metrics = new Metrics();
  const authenticate = createAuthenticate({
    region: environment.REGION_CODE,
    store: createAccessStore(runtime),
    clock,
  });
  const admit = createRateLimiter(runtime, (error) => {
    metrics.singleMetric().addMetric("LimiterFailedOpen", MetricUnit.Count, 1);
    log.warn("rate limiter failed open", { reason: error instanceof Error ? error.name : "unknown" });
  });
  return {
    before: async ({ event }) => {
      const progress = progressOf(event);
      progress.organization = await authenticate(progress.headers["authorization"]);
      await admit(progress.organization);
    },
  };
};

const bodyReader = (readBody: ReadBody): Step => ({
  before: async ({ event }) => {
    const progress = progressOf(event);
    progress.body = await readBody(event, progress.headers);
  },
});

/** Query and body through the route's schemas; what is wrong in either is named in one response. @throws InvalidInputError */
const callOf = <R extends Route>(
  route: R,
  clock: EdgeRuntime["clock"],
  event: APIGatewayProxyEvent,
  context: Context,
): Call<R> => {
  const { requestId, headers, organization, body: read } = progressOf(event);
  const { parameters, repeated } = readQuery(event);
  const query = validate<R["query"]>(route.query, parameters, "query");
  const file = read?.kind === "file" ? read.file : undefined;
  const value = read?.kind === "json" ? read.value : undefined;
  const body = file ? { value: undefined, problems: [] } : validate<R["body"]>(route.body, value, "body");
  const repetitions = repeated.map((name) => ({ path: [name], code: "repeated", message: "must be given once" }));
  refuseProblems([...repetitions, ...query.problems, ...body.problems]);
  if (organization === undefined) throw new Error("nobody was authenticated");
  const timeLeft = context.getRemainingTimeInMillis?.() ?? TIMEOUT_MILLISECONDS_DEFAULT;
  return {
    organization,
    params: readParams(event),
    query: query.value as z.output<R["query"]>,
    body: body.value as z.output<R["body"]>,
    file,
    headers,
    requestId,
    deadline: clock() + timeLeft - TIMEOUT_MARGIN_MILLISECONDS,
  };
};

const outOfTime = (): never => {
  throw new StoreBusyError("the service ran out of time; retry later");
};

type Handle<R extends Route> = (call: Call<R>) => Promise<RouteResponse<R>>;

/**
 * The chain that every endpoint's requests pass: request id and log, authentication (401), rate limit (429), body (413, 415,
 * 400), validation (422), handler; the response leaves through the route's schema, so that no stray field can; the error
 * table last. Caches of keys and limits live as long as the handler.
 */
const createChain = <R extends Route>(
  route: R,
  runtime: EdgeRuntime,
  readBody: ReadBody | undefined,
  handle: Handle<R>,
): ApiHandler => {
  const chain = middyChain<APIGatewayProxyEvent, APIGatewayProxyResult>({
    timeoutEarlyInMillis: TIMEOUT_MARGIN_MILLISECONDS,
    timeoutEarlyResponse: outOfTime,
  })
    .use(requestIdAndLog(route.name, runtime))
    .use(authenticationAndRateLimit(runtime))
    .use(readBody === undefined ? [] : [bodyReader(readBody)])
    .use(errorTable)
    .handler(async (event: APIGatewayProxyEvent, context: Context): Promise<APIGatewayProxyResult> => {
      const { status = route.status, body, headers } = await handle(callOf(route, runtime.clock, event, context));
      return jsonResponse(status, headers, route.response.parse(body));
    });
  return (event, context) => chain(event, context);
};

/** An endpoint that takes no body: whatever is sent as one is ignored. */
export const endpoint = <const R extends Route & { readonly bodyKind: "none" }>(
  route: R,
  runtime: EdgeRuntime,
  handle: Handle<R>,
): ApiHandler => createChain(route, runtime, undefined, handle);

/** An endpoint that takes a body. @param readBody reads what the route's `bodyKind` says; no other reader is in the bundle */
export const endpointWithBody = <const R extends Route & { readonly bodyKind: "json" | "multipart-or-json" }>(
  route: R,
  runtime: EdgeRuntime,
  readBody: ReadBody,
  handle: Handle<R>,
): ApiHandler => createChain(route, runtime, readBody, handle);
