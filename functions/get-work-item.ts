import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { type ApiHandler, endpoint } from "../lib/http/endpoint.ts";
import { itemWithEventsAnswer } from "../lib/work-items/item-with-events-answer.ts";
import { createWorkItemStore } from "../lib/work-items/work-item-store.ts";
import { routes } from "./routes.ts";

const route = routes.getWorkItem;

export const create = (runtime: Runtime<typeof route.touches>): ApiHandler => {
  const store = createWorkItemStore(runtime);
  return endpoint(route, runtime, async ({ organization, params }) =>
    itemWithEventsAnswer(organization, await store.get(organization.id, params["id"] ?? "")),
  );
};

export const handler = lambda(route.touches, create);
