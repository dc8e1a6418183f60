import { rejectUnknownRoute } from "../lib/http/public-endpoint.ts";
import { lambda } from "../lib/aws/runtime.ts";
import { pages } from "./pages.ts";
import { allRoutes } from "./routes.ts";

/** Every method and path that no route has. */
export const { create, handler } = lambda({}, {}, (runtime) => rejectUnknownRoute(
    "reject-unknown-route",
    [...allRoutes(), ...pages.paths.map((path) => ({ path, method: pages.method }))],
    runtime,
  ));
