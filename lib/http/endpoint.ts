import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import middyChain from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import type * as z from "zod";
import type { Route } from "../../functions/routes.ts";
import type { Runtime } from "../aws/runtime.ts";
import { StoreBusyError } from "../errors.ts";
import { createAccessStore } from "../organizations/access-store.ts";
import { createAuthenticate } from "../organizations/authenticate.ts";
import type { Organization } from "../organizations/organization.ts";
import { createRateLimiter } from "../organizations/rate-limit.ts";
import { readBody } from "./body.ts";
import { type ApiHandler, jsonResult, type Step } from "./chain.ts";
import { errorTable } from "./error-table.ts";
import type { UploadedFile } from "./multipart.ts";
import { readParams, readQuery } from "./request.ts";
import { requestIdAndLog } from "./request-log.ts";
import { refuseProblems, validate } from "./validation.ts";

export type { ApiHandler } from "./chain.ts";
export type { UploadedFile } from "./multipart.ts";

/** A request that passed the chain: who calls, and what, as the route's schemas gave it. */
export interface Call<R extends Route> {
  readonly organization: Organization;
  /** Ids in the path: UUIDs in lower case. What is none comes as the empty string, which names nothing: it is not found. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: z.output<R["query"]>;
  readonly body: z.output<R["body"]>;
  /** The part `upload[file]`, on routes that take multipart, where the request is multipart. */
  readonly file: UploadedFile | undefined;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requestId: string;
  /** Milliseconds since the epoch when the function must have answered. */
  readonly deadline: number;
}

export interface Reply<R extends Route> {
  /** @default the route's status */
  readonly status?: number;
  readonly body: z.input<R["response"]>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Where the invocation does not say, as in tests: API Gateway's own limit. */
const TIMEOUT_MILLISECONDS_DEFAULT = 29_000;
/** Kept from the function's time for the answer that says that time ran out. */
const TIMEOUT_MARGIN_MILLISECONDS = 500;

/** Who calls, and whether that organization has requests left. */
const authenticationAndRateLimit = (runtime: Runtime): Step => {
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
    before: async ({ internal: { progress } }) => {
      progress.organization = await authenticate(progress.headers["authorization"]);
      await admit(progress.organization);
    },
  };
};

const bodyParser = (route: Route): Step => ({
  before: async ({ event, internal: { progress } }) => {
    progress.parsed = await readBody(route.bodyKind, event, progress.headers);
  },
});

/** Query and body through the route's schemas; what is wrong in either is named in one answer. The event becomes the call. */
const validation = (route: Route, clock: Runtime["clock"]): Step => ({
  before: (request) => {
    const { event, context, internal } = request;
    const { requestId, headers, organization, parsed } = internal.progress;
    const { parameters, repeated } = readQuery(event);
    const query = validate(route.query, parameters, "query");
    const body = parsed?.file ? { value: undefined, problems: [] } : validate(route.body, parsed?.body, "body");
    refuseProblems([...repeated.map((name) => `${name}: must be given once`), ...query.problems, ...body.problems]);
    const timeLeft = context.getRemainingTimeInMillis?.() ?? TIMEOUT_MILLISECONDS_DEFAULT;
    const call = {
      organization,
      params: readParams(event),
      query: query.value,
      body: body.value,
      file: parsed?.file,
      headers,
      requestId,
      deadline: clock() + timeLeft - TIMEOUT_MARGIN_MILLISECONDS,
    };
    Object.assign(request, { event: call });
  },
});

/** The answer leaves through the route's schema, so that no stray field can. */
const answer = (route: Route): Step => ({
  after: (request) => {
    const { status = route.status, body, headers } = request.response as unknown as Reply<Route>;
    request.response = jsonResult(status, headers, route.response.parse(body));
  },
});

const outOfTime = (): never => {
  throw new StoreBusyError("the service ran out of time; retry later");
};

/**
 * The chain that every endpoint's requests pass: request id and log, authentication (401), rate limit (429), body (413, 415,
 * 400), validation (422), handler, answer; then the error table. Caches of keys and limits live as long as the handler.
 */
export const endpoint = <const R extends Route>(
  route: R,
  runtime: Runtime<R["touches"]>,
  handle: (call: Call<R>) => Promise<Reply<R>>,
): ApiHandler => {
  // A route without `public` touches access and limits, which is all that the chain itself reaches for.
  const edge = runtime as unknown as Runtime;
  return middyChain<APIGatewayProxyEvent, APIGatewayProxyResult>({
    timeoutEarlyInMillis: TIMEOUT_MARGIN_MILLISECONDS,
    timeoutEarlyResponse: outOfTime,
  })
    .use(requestIdAndLog(route.name, edge))
    .use(route.public ? [] : [authenticationAndRateLimit(edge)])
    .use(bodyParser(route))
    .use(validation(route, runtime.clock))
    .use(answer(route))
    .use(errorTable)
    .handler(handle as never) as ApiHandler;
};
