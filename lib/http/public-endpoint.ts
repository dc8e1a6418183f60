import middyChain from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type { Runtime } from "../aws/runtime.ts";
import { NotFoundError } from "../errors.ts";
import { type Call, callOf, type RouteResponse, toResult } from "./call.ts";
import { type ApiEvent, apiHandler, type ApiHandler, requestIdAndLog } from "./chain.ts";
import { errorTable, MethodNotAllowedError } from "./error-table.ts";
import { corsHeaders, preflightHeaders, responseHeaders } from "./response.ts";
import { methodsOf, type Route } from "./route.ts";

/** The middleware chain of functions without API key and rate limit. The gateway's stage throttles them. */
export function publicChain(
  name: string,
  runtime: Runtime<object>,
  handle: (event: ApiEvent, context: Context) => Promise<APIGatewayProxyResult>,
): ApiHandler {
  const chain = middyChain<ApiEvent, APIGatewayProxyResult>()
    .use(requestIdAndLog(name, runtime))
    .use(responseHeaders(runtime))
    .use(errorTable)
    .handler(handle);
  return apiHandler(runtime.clock, chain);
}

/** An endpoint without API key and rate limit. */
export function publicEndpoint<const R extends Route & { readonly public: true }>(
  route: R,
  runtime: Runtime<object>,
  handle: (call: Call<R>, event: APIGatewayProxyEvent) => Promise<RouteResponse<R>>,
): ApiHandler {
  return publicChain(route.name, runtime, async (event, context) =>
    toResult(route, event, await handle(callOf(route, runtime.clock, event, context), event)),
  );
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
  return publicChain(name, runtime, async (event) => {
    const allowed = routes.filter(({ path }) => path === event.resource).flatMap(methodsOf);
    if (allowed.length === 0) throw new NotFoundError("no such path");
    if (isPreflight(event)) return { statusCode: 204, headers: { ...preflightHeaders(allowed) }, body: "" };
    throw new MethodNotAllowedError(allowed);
  });
}
