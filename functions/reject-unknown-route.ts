import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import type { ApiHandler } from "../lib/http/chain.ts";
import { rejectUnknownRoute } from "../lib/http/reject-unknown-route.ts";
import { allRoutes } from "./routes.ts";

const touches = {};

export const create = (runtime: Runtime<typeof touches>): ApiHandler =>
  rejectUnknownRoute("reject-unknown-route", allRoutes, runtime);

export const handler = lambda(touches, create);
