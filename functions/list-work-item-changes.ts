import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createReadChanges } from "../lib/changes/read-changes.ts";
import { routes } from "./routes.ts";

const route = routes.listWorkItemChanges;

/** `GET /v1/work_items/changes` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const readChanges = createReadChanges(runtime);
  return endpoint(route, runtime, async ({ organization, query: { include, ...query } }) => {
    const { limit } = query;
    const { data, next, more } = await readChanges(organization, { ...query, withEvents: include === "events" });
    return { body: { data, meta: { page: { next, limit, more } } } };
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
