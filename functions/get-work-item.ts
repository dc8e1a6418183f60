import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { respondWithWorkItem } from "../lib/work-items/single-work-item.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createGetWorkItem } from "../lib/work-items/read-work-item.ts";
import { routes } from "./routes.ts";

const route = routes.getWorkItem;

/** `GET /v1/work_items/{id}` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const getWorkItem = createGetWorkItem(runtime);
  return endpoint(route, runtime, async ({ organization, id }) =>
    respondWithWorkItem(organization, await getWorkItem(organization.id, id)),
  );
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
