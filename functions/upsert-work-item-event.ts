import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { type ApiHandler, endpoint } from "../lib/http/endpoint.ts";
import { toEventResponse } from "../lib/work-items/work-item-record.ts";
import { createWorkItemStore } from "../lib/work-items/work-item-store.ts";
import { routes } from "./routes.ts";

const route = routes.upsertWorkItemEvent;

export const create = (runtime: Runtime<typeof route.touches>): ApiHandler => {
  const store = createWorkItemStore(runtime);
  return endpoint(route, runtime, async ({ organization, params, body, deadline }) => {
    const { created, event } = await store.upsertEvent(organization, params["id"] ?? "", body.event, deadline);
    return { status: created ? 201 : 200, body: { data: toEventResponse(event) } };
  });
};

export const handler = lambda(route.touches, create);
