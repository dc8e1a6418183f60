import createMiddy from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import { type ClientFactories, lambda, type Runtime } from "../aws/runtime.ts";
import { NotFoundError, StoreBusyError } from "../errors.ts";
import { type Call, callOf, type RouteResponse, TIMEOUT_MARGIN_MS, toResult } from "./call.ts";
import { type ApiEvent, apiHandler, type ApiHandler, requestIdAndLog, type Middleware } from "./middleware.ts";
import { errorTable, MethodNotAllowedError } from "./error-table.ts";
import { corsHeaders, preflightHeaders, responseHeaders } from "./response.ts";
import { methodsOf, type Route } from "./route.ts";

function outOfTime(): never {
  throw new StoreBusyError("the service ran out of time; retry later");
}

/**
 * Makes the handler of a function behind the gateway. Without further middleware there is neither API key nor rate
 * limit: the gateway's stage throttles those functions.
 * @param middleware runs between the headers of responses and the error table
 */
export function gatewayHandler(
  name: string,
  runtime: Runtime<object>,
  middleware: readonly Middleware[],
  handle: (event: ApiEvent, context: Context) => Promise<APIGatewayProxyResult>,
): ApiHandler {
  const handler = createMiddy<ApiEvent, APIGatewayProxyResult>({
    timeoutEarlyInMillis: TIMEOUT_MARGIN_MS,
    timeoutEarlyResponse: outOfTime,
  })
    .use(requestIdAndLog(name, runtime))
    .use(responseHeaders(runtime))
    .use([...middleware])
    .use(errorTable)
    .handler(handle);
  return apiHandler(runtime.clock, handler);
}

/** The function of an endpoint without API key and rate limit. @param prepare makes the handler */
export function publicEndpoint<R extends Route & { readonly public: true }>(
  route: R,
  clients: ClientFactories<R["permissions"]>,
  prepare: (
    runtime: Runtime<R["permissions"]>,
  ) => (call: Call<R>, event: APIGatewayProxyEvent) => Promise<RouteResponse<R>>,
) {
  return lambda(route.permissions as R["permissions"], clients, (runtime: Runtime<R["permissions"]>) => {
    const handle = prepare(runtime);
    return gatewayHandler(route.name, runtime, [], async (event, context) =>
      toResult(route, event, await handle(callOf(route, runtime.clock, event, context), event)),
    );
  });
}

/**
 * Responds to requests without a route: 204 to a browser's preflight request from an allowed origin, 405 with `Allow`
 * if the path has other methods, else 404. No API key is needed.
 */
export function rejectUnknownRoute(
  name: string,
  routes: readonly Pick<Route, "method" | "path">[],
  runtime: Runtime<object>,
): ApiHandler {
  const { ALLOWED_ORIGINS: origins } = runtime.environment;
  const isPreflight = (event: ApiEvent): boolean => {
    const { origin, "access-control-request-method": method } = event.progress.headers;
    return event.httpMethod === "OPTIONS" && method !== undefined && corsHeaders(origins, origin) !== undefined;
  };
  return gatewayHandler(name, runtime, [], async (event) => {
    const allowed = routes.filter(({ path }) => path === event.resource).flatMap(methodsOf);
    if (allowed.length === 0) throw new NotFoundError("no such path");
    if (isPreflight(event)) return { statusCode: 204, headers: { ...preflightHeaders(allowed) }, body: "" };
    throw new MethodNotAllowedError(allowed);
  });
}
