import { endpoint } from "../lib/http/endpoint.ts";
import { countFitting } from "../lib/http/response.ts";
import { respondWithWorkItem } from "../lib/work-items/single-work-item.ts";
import { createGetWorkItem } from "../lib/work-items/read-work-item.ts";
import { workItemRoutes } from "./routes/work-items.ts";

/** `GET /v1/work_items/{id}` */
export const { create, handler } = endpoint(workItemRoutes.getWorkItem, {}, (runtime) => {
  const getWorkItem = createGetWorkItem(runtime);
  return async ({ organization, id }) =>
    respondWithWorkItem(organization, await getWorkItem(organization.id, id), countFitting);
});
