import type { ApiHandler } from "../lib/http/chain.ts";
import { endpointWithBody } from "../lib/http/endpoint.ts";
import { parseIdempotencyKey } from "../lib/http/request.ts";
import { readJsonBody } from "../lib/http/request-body.ts";
import { workItemId } from "../lib/identity.ts";
import { respondWithWorkItem } from "../lib/work-items/single-work-item.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createCreateWorkItem } from "../lib/work-items/create-work-item.ts";
import { routes } from "./routes.ts";

const route = routes.createWorkItem;

/** `POST /v1/work_items` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const createWorkItem = createCreateWorkItem(runtime);
  return endpointWithBody(route, runtime, readJsonBody, async ({ organization, body, headers, written }) => {
    const key = parseIdempotencyKey(headers);
    const input = body.work_item;
    const createKey = key === undefined ? undefined : { key, body: JSON.stringify(input) };
    const id = workItemId(organization.id, input.external_id);
    written.set(id, "unknown");
    const { outcome, ...created } = await createWorkItem(organization, input, createKey);
    written.set(id, outcome);
    return respondWithWorkItem(organization, created);
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
