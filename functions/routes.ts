import { functionNameOf } from "../lib/aws/permissions.ts";
import type { Route } from "../lib/http/route.ts";
import { pages } from "./pages.ts";
import { conversationUploadRoutes } from "./routes/conversation-uploads.ts";
import { serviceRoutes } from "./routes/service.ts";
import { uploadRoutes } from "./routes/uploads.ts";
import { webhookRoutes } from "./routes/webhooks.ts";
import { workItemRoutes } from "./routes/work-items.ts";

/** Makes each row, with its function's name, when it is first asked for. */
function eachOnce<const M extends Readonly<Record<string, () => Omit<Route, "name">>>>(rows: M) {
  const made: Record<string, Route> = {};
  for (const [key, make] of Object.entries(rows)) {
    let row: Route | undefined;
    Object.defineProperty(made, key, {
      enumerable: true,
      get: () => (row ??= { ...make(), name: functionNameOf(key) }),
    });
  }
  return made as { readonly [N in keyof M]: ReturnType<M[N]> & { readonly name: string } };
}

/**
 * All endpoints, by the name that the code uses for each. A row is made when it is asked for, so that a function builds
 * the schemas of its own endpoint alone.
 */
export const routes = eachOnce({
  ...workItemRoutes,
  ...uploadRoutes,
  ...conversationUploadRoutes,
  ...webhookRoutes,
  ...serviceRoutes,
});

/** The same endpoints in order. */
export function allRoutes(): readonly Route[] {
  return Object.values(routes);
}

/** Every method and path that is served, with the name of its function: endpoints and pages. */
export function allServed() {
  return [...allRoutes(), ...pages.paths.map((path) => ({ ...pages, path }))];
}

/** The function behind every other method and path. */
export const unknownRoute = {
  name: "reject-unknown-route",
  summary: "Responds with 404 or 405",
  public: true,
  bodyKind: "none",
  permissions: {},
} as const;

/** All functions behind the gateway. */
export function gatewayFunctions() {
  return [...allRoutes(), pages, unknownRoute];
}
