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

/** A request that passed the chain: the calling organization, and the input that the route's schemas accepted. */
interface Call<R extends Route> {
  readonly organization: Organization;
  /** Ids in the path: UUIDs in lower case. Anything else is replaced by the empty string, which no resource has. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: z.output<R["query"]>;
  readonly body: z.output<R["body"]>;
  /** The form field `upload[file]` of a multipart request. */
  readonly file: UploadedFile | undefined;
  /** Headers by lower-case name. */
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

/** API Gateway's own limit, for invocations whose context has no remaining time, as in tests. */
const TIMEOUT_MILLISECONDS_DEFAULT = 29_000;
/** Reserved at the end of the function's time for the response that says that time ran out. */
const TIMEOUT_MARGIN_MILLISECONDS = 500;

/** Finds the calling organization and debits its rate limit. */
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

/** Validates query and body by the route's schemas. @throws InvalidInputError naming the problems of both together */
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

type EndpointHandler<R extends Route> = (call: Call<R>) => Promise<RouteResponse<R>>;

/**
 * The middleware chain of every endpoint: request id and log, authentication (401), rate limit (429), body (413, 415,
 * 400), validation (422), handler, error table. The route's schema checks the response, so that no other field leaves
 * the service. The caches of keys and limits live as long as the handler.
 */
const createChain = <R extends Route>(
  route: R,
  runtime: EdgeRuntime,
  readBody: ReadBody | undefined,
  handle: EndpointHandler<R>,
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

/** An endpoint that takes no body; a body that is sent is ignored. */
export const endpoint = <const R extends Route & { readonly bodyKind: "none" }>(
  route: R,
  runtime: EdgeRuntime,
  handle: EndpointHandler<R>,
): ApiHandler => createChain(route, runtime, undefined, handle);

/** An endpoint that takes a body. @param readBody reader for the route's `bodyKind`, the only one in the bundle */
export const endpointWithBody = <const R extends Route & { readonly bodyKind: "json" | "multipart-or-json" }>(
  route: R,
  runtime: EdgeRuntime,
  readBody: ReadBody,
  handle: EndpointHandler<R>,
): ApiHandler => createChain(route, runtime, readBody, handle);
