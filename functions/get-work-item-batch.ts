import { endpoint } from "../lib/http/endpoint.ts";
import { countFitting } from "../lib/http/response.ts";
import { readJsonBody } from "../lib/http/request-body.ts";
import { createFindItems, namedItems } from "../lib/work-items/named-items.ts";
import { workItemRoutes } from "./routes/work-items.ts";

/** `POST /v1/work_items/batch_get` */
export const { create, handler } = endpoint(workItemRoutes.getWorkItemBatch, { readBody: readJsonBody }, (runtime) => {
  const findItems = createFindItems(runtime, countFitting);
  return async ({ organization, body }) => ({
    body: { data: { results: await findItems(organization, namedItems(organization, body)) } },
  });
});
