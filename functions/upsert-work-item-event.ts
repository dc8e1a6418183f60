import type { ApiHandler } from "../lib/http/chain.ts";
import { endpointWithBody } from "../lib/http/endpoint.ts";
import { readJsonBody } from "../lib/http/request-body.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createUpsertWorkItemEvent } from "../lib/work-items/change-work-item-event.ts";
import { toEventResponse } from "../lib/work-items/work-item-response.ts";
import { routes } from "./routes.ts";

const route = routes.upsertWorkItemEvent;

/** `POST /v1/work_items/{id}/events` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const upsertEvent = createUpsertWorkItemEvent(runtime);
  return endpointWithBody(route, runtime, readJsonBody, async ({ organization, id, body, deadline, written }) => {
    written.set(id, "unknown");
    const { outcome, event } = await upsertEvent(organization, id, body.event, deadline);
    written.set(id, outcome === "unchanged" ? outcome : "updated");
    return { status: outcome === "created" ? 201 : 200, body: { data: toEventResponse(event) } };
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
