import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createDeleteWorkItemEvent } from "../lib/work-items/change-work-item-event.ts";
import { routes } from "./routes.ts";

const route = routes.deleteWorkItemEvent;

/** `DELETE /v1/work_items/{id}/events/{event_id}` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const deleteEvent = createDeleteWorkItemEvent(runtime);
  return endpoint(route, runtime, async ({ organization, id, eventId, deadline, written }) => {
    written.set(id, "unknown");
    written.set(id, await deleteEvent(organization, id, eventId, deadline));
    return { body: { data: { id: eventId, deleted: true } } };
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
