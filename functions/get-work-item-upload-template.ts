import type { ApiHandler } from "../lib/http/chain.ts";
import { publicEndpoint } from "../lib/http/public-endpoint.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { templateCsv } from "../lib/uploads/csv/template.ts";
import { routes } from "./routes.ts";

const route = routes.getWorkItemUploadTemplate;

/** `GET /v1/work_items/upload/template.csv` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  return publicEndpoint(route, runtime, async () => ({
    body: templateCsv(),
    headers: { "content-disposition": 'attachment; filename="work_items.csv"', "cache-control": "public, max-age=300" },
  }));
}

export const handler = lambda(route.permissions, {}, create);
