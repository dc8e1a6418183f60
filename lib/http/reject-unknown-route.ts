import { NotFoundError } from "../errors.ts";
import type { Runtime } from "../aws/runtime.ts";
import type { ApiEvent, ApiHandler } from "./chain.ts";
import { corsHeaders, preflightHeaders } from "./cors.ts";
import { MethodNotAllowedError } from "./error-table.ts";
import { publicChain } from "./public-chain.ts";
import { methodsOf, type Route } from "./route.ts";

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
