import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { type ApiHandler, endpoint } from "../lib/http/endpoint.ts";
import { parseIdempotencyKey } from "../lib/http/idempotency-key.ts";
import { itemWithEventsAnswer } from "../lib/work-items/item-with-events-answer.ts";
import { createWorkItemStore } from "../lib/work-items/work-item-store.ts";
import { routes } from "./routes.ts";

const route = routes.createWorkItem;

export const create = (runtime: Runtime<typeof route.touches>): ApiHandler => {
  const store = createWorkItemStore(runtime);
  return endpoint(route, runtime, async ({ organization, body, headers }) => {
    const key = parseIdempotencyKey(headers);
    const input = body.work_item;
    const createKey = key === undefined ? undefined : { key, body: JSON.stringify(input) };
    return itemWithEventsAnswer(organization, await store.create(organization, input, createKey));
  });
};

export const handler = lambda(route.touches, create);
