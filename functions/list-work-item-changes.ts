import { endpoint } from "../lib/http/endpoint.ts";
import { countFitting, createRoom } from "../lib/http/response.ts";
import { createReadChanges } from "../lib/changes/feed-page.ts";
import { workItemRoutes } from "./routes/work-items.ts";

/** `GET /v1/work_items/changes` */
export const { create, handler } = endpoint(workItemRoutes.listWorkItemChanges, {}, (runtime) => {
  const readChanges = createReadChanges(runtime, { countFitting, createRoom });
  return async ({ organization, query: { include, ...query } }) => {
    const { limit } = query;
    const { data, next, more } = await readChanges(organization, { ...query, withEvents: include === "events" });
    return { body: { data, meta: { page: { next, limit, more } } } };
  };
});
