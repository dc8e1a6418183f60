import type { Route } from "../lib/http/route.ts";
import { pages } from "./pages.ts";
import { conversationUploadRoutes } from "./routes/conversation-uploads.ts";
import { serviceRoutes } from "./routes/service.ts";
import { uploadRoutes } from "./routes/uploads.ts";
import { webhookRoutes } from "./routes/webhooks.ts";
import { workItemRoutes } from "./routes/work-items.ts";

/** All endpoints by name. A handler imports the table with its own row instead. */
export const routes = {
  ...workItemRoutes,
  ...uploadRoutes,
  ...conversationUploadRoutes,
  ...webhookRoutes,
  ...serviceRoutes,
};

/** The same endpoints in order. */
export function allRoutes(): readonly Route[] {
  return Object.values(routes);
}

/** Every served method and path, with the name of its function: endpoints and pages. */
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
