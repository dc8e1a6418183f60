import type { ApiHandler } from "../lib/http/chain.ts";
import { endpointWithBody } from "../lib/http/endpoint.ts";
import { readJsonBody } from "../lib/http/request-body.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createFindItems, namedItems } from "../lib/work-items/named-items.ts";
import { routes } from "./routes.ts";

const route = routes.getWorkItemBatch;

/** `POST /v1/work_items/batch_get` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const findItems = createFindItems(runtime);
  return endpointWithBody(route, runtime, readJsonBody, async ({ organization, body }) => ({
    body: { data: { results: await findItems(organization, namedItems(organization, body)) } },
  }));
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
