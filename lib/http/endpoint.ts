import { randomUUID } from "node:crypto";
import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import middyChain from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type * as z from "zod";
import type { Route } from "../../functions/routes.ts";
import type { Runtime } from "../aws/runtime.ts";
import { StoreBusyError } from "../errors.ts";
import { createAccessStore } from "../organizations/access-store.ts";
import { createAuthenticate } from "../organizations/authenticate.ts";
import type { Organization } from "../organizations/organization.ts";
import { createRateLimiter } from "../organizations/rate-limit.ts";
import { type ParsedBody, readBody } from "./body.ts";
import { answerTo } from "./error-table.ts";
import type { UploadedFile } from "./multipart.ts";
import { readHeaders, readParams, readQuery } from "./request.ts";
import { logRequest } from "./request-log.ts";
import { refuseProblems, validate } from "./validation.ts";

export type { UploadedFile } from "./multipart.ts";

/** A request that passed the chain: who calls, and what, as the route's schemas gave it. */
export interface Call<R extends Route> {
  readonly organization: Organization;
  /** Path parameters, percent-decoded; not checked to be UUIDs: what is none is simply not found. */
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

export type ApiHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** What the steps of the chain learn of a request, one after the other. */
interface Progress {
  readonly requestId: string;
  readonly startedAt: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  organization?: Organization;
  parsed?: ParsedBody;
}

type Step = middyChain.MiddlewareObj<
  APIGatewayProxyEvent,
  APIGatewayProxyResult,
  Error,
  Context,
  { progress: Progress }
>;

/** Where the invocation does not say, as in tests: API Gateway's own limit. */
const TIMEOUT_MILLISECONDS_DEFAULT = 29_000;
/** Kept from the function's time for the answer that says that time ran out. */
const TIMEOUT_MARGIN_MILLISECONDS = 500;

const JSON_TYPE = { "content-type": "application/json" };

/** First on the way in, last on the way out: every answer has `x-request-id`, every request one line in the log. */
const requestIdAndLog = (route: Route, { clock, log }: Runtime): Step => {
  const finish: Step["after"] = ({ response, error, internal }) => {
    if (!response) return;
    const { requestId, startedAt, organization } = internal.progress;
    response.headers = { ...response.headers, "x-request-id": requestId };
    const summary = {
      requestId,
      route: route.name,
      organization: organization?.id,
      status: response.statusCode,
      startedAt,
    };
    logRequest(log, clock, summary, error);
  };
  return {
    before: ({ event, context, internal }) => {
      internal.progress = {
        requestId: event.requestContext?.requestId || context.awsRequestId || randomUUID(),
        startedAt: clock(),
        headers: readHeaders(event),
      };
    },
    after: finish,
    onError: finish,
  };
};

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
  before: ({ event, internal: { progress } }) => {
    progress.parsed = readBody(route.bodyKind, event, progress.headers);
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
    request.response = {
      statusCode: status,
      headers: { ...JSON_TYPE, ...headers },
      body: JSON.stringify(route.response.parse(body)),
    };
  },
});

const errorTable: Step = {
  onError: (request) => {
    const { status, message, headers } = answerTo(request.error) ?? { status: 500, message: "internal error" };
    request.response = {
      statusCode: status,
      headers: { ...JSON_TYPE, ...headers },
      body: JSON.stringify({ error: message }),
    };
  },
};

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
  return (
    middyChain<APIGatewayProxyEvent, APIGatewayProxyResult>({
      timeoutEarlyInMillis: TIMEOUT_MARGIN_MILLISECONDS,
      timeoutEarlyResponse: outOfTime,
    })
      .use(requestIdAndLog(route, edge))
      .use(route.public ? [] : [authenticationAndRateLimit(edge)])
      .use(bodyParser(route))
      .use(validation(route, runtime.clock))
      .use(answer(route))
      // middy runs onError steps from the last attached to the first.
      .use(errorTable)
      .handler(handle as never) as ApiHandler
  );
};
