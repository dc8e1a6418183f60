import { NotFoundError } from "../lib/errors.ts";
import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { createDynamoDbClient } from "../lib/runtime/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/runtime/runtime.ts";
import { createS3Client } from "../lib/runtime/s3-client.ts";
import { createListLink } from "../lib/uploads/files/list-link.ts";
import { createUploadStore } from "../lib/uploads/job/upload-store.ts";
import { routes } from "./routes.ts";

const route = routes.getWorkItemUploadResults;

/** `GET /v1/work_items/upload/{id}/results` */
export const create = (runtime: Runtime<typeof route.permissions>): ApiHandler => {
  const store = createUploadStore(runtime);
  const linkOf = createListLink(runtime);
  return endpoint(route, runtime, async ({ organization, params }) => {
    const snapshot = await store.read({ organization: organization.id, id: params["id"] ?? "" });
    if (!snapshot) throw new NotFoundError("work item upload not found");
    return { body: { data: await linkOf(snapshot, "results") } };
  });
};

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient, s3: createS3Client }, create);
