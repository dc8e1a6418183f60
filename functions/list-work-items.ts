import { endpoint } from "../lib/http/endpoint.ts";
import { countFitting } from "../lib/http/response.ts";
import { toPage } from "../lib/http/pagination.ts";
import { createListWorkItems } from "../lib/work-items/work-item-list.ts";
import { workItemRoutes } from "./routes/work-items.ts";

/** `GET /v1/work_items` */
export const { create, handler } = endpoint(workItemRoutes.listWorkItems, {}, (runtime) => {
  const listWorkItems = createListWorkItems(runtime, countFitting);
  return async ({ organization, query }) => {
    const { limit, cursor, ...filters } = query;
    const { data, next } = await listWorkItems(organization, filters, { cursor, limit });
    return { body: toPage(data, next, limit) };
  };
});
