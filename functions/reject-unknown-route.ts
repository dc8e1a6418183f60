import type { ApiHandler } from "../lib/http/chain.ts";
import { rejectUnknownRoute } from "../lib/http/public-endpoint.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { pages } from "./pages.ts";
import { allRoutes } from "./routes.ts";

const permissions = {};

/** Every method and path that no route has. */
export function create(runtime: Runtime<typeof permissions>): ApiHandler {
  return rejectUnknownRoute(
    "reject-unknown-route",
    [...allRoutes(), ...pages.paths.map((path) => ({ path, method: pages.method }))],
    runtime,
  );
}

export const handler = lambda(permissions, {}, create);
