import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { assertMatches, parseIfMatch } from "../lib/http/etag.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createDeleteWorkItem } from "../lib/work-items/change-work-item.ts";
import { routes } from "./routes.ts";

const route = routes.deleteWorkItem;

/** `DELETE /v1/work_items/{id}` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const deleteWorkItem = createDeleteWorkItem(runtime);
  return endpoint(route, runtime, async ({ organization, id, headers, deadline, written }) => {
    const ifMatch = parseIfMatch(headers["if-match"]);
    const assertVersion = (version: number) => assertMatches(ifMatch, version);
    written.set(id, "unknown");
    written.set(id, (await deleteWorkItem(organization, id, { assertVersion, deadline })).status);
    return { body: { data: { id, deleted: true } } };
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
