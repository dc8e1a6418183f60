import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createS3Client } from "../lib/aws/s3-client.ts";
import { createListLink } from "../lib/uploads/files/list-link.ts";
import { routes } from "./routes.ts";

const route = routes.getWorkItemUploadFailedRows;

/** `GET /v1/work_items/upload/{id}/failed_rows` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const linkOf = createListLink(runtime);
  return endpoint(route, runtime, async ({ organization, id }) => ({
    body: { data: await linkOf({ organization: organization.id, id }, "failed_rows") },
  }));
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient, s3: createS3Client }, create);
