import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { toPage } from "../lib/http/page.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createListWorkItems } from "../lib/work-items/list-work-items.ts";
import { routes } from "./routes.ts";

const route = routes.listWorkItems;

/** `GET /v1/work_items` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const listWorkItems = createListWorkItems(runtime);
  return endpoint(route, runtime, async ({ organization, query }) => {
    const { limit, cursor, ...filters } = query;
    const { data, next } = await listWorkItems(organization, filters, { cursor, limit });
    return { body: toPage(data, next, limit) };
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
