import { endpoint } from "../lib/http/endpoint.ts";
import { readJsonBody } from "../lib/http/request-body.ts";
import { createFindItems, namedItems } from "../lib/work-items/named-items.ts";
import { routes } from "./routes.ts";

/** `POST /v1/work_items/batch_get` */
export const { create, handler } = endpoint(routes.getWorkItemBatch, { readBody: readJsonBody }, (runtime) => {
  const findItems = createFindItems(runtime);
  return async ({ organization, body }) => ({
    body: { data: { results: await findItems(organization, namedItems(organization, body)) } },
  });
});
