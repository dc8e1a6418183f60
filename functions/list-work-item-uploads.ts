import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { toPage } from "../lib/http/page.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createListUploads } from "../lib/uploads/job/list-uploads.ts";
import { UploadStore } from "../lib/uploads/job/upload-store.ts";
import { routes } from "./routes.ts";

const route = routes.listWorkItemUploads;

/** `GET /v1/work_items/upload` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const listUploads = createListUploads(runtime, new UploadStore(runtime));
  return endpoint(route, runtime, async ({ organization, query }) => {
    const { data, next } = await listUploads(organization, query);
    return { body: toPage(data, next, query.limit) };
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
