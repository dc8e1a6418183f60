import { join } from "node:path";
import { pageEndpoint } from "../lib/http/page-endpoint.ts";
import { lambda } from "../lib/aws/runtime.ts";
import { pages } from "./pages.ts";

/** The pages and their assets, which the build places next to the function's code. */
export const { create, handler } = lambda({}, {}, (runtime) =>
  pageEndpoint(pages.name, runtime, join(runtime.environment.LAMBDA_TASK_ROOT, "pages")),
);
