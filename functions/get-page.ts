import { join } from "node:path";
import type { ApiHandler } from "../lib/http/chain.ts";
import { pageEndpoint } from "../lib/http/page-endpoint.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { pages } from "./pages.ts";

const permissions = {};

/** The pages and their assets, which the build places next to the function's code. */
export function create(runtime: Runtime<typeof permissions>): ApiHandler {
  return pageEndpoint(pages.name, runtime, join(runtime.environment.LAMBDA_TASK_ROOT, "pages"));
}

export const handler = lambda(permissions, {}, create);
