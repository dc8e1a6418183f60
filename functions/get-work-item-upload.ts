import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { NotFoundError } from "../lib/errors.ts";
import { type ApiHandler, endpoint } from "../lib/http/endpoint.ts";
import { toUploadJobResponse } from "../lib/uploads/upload-record.ts";
import { createUploadStore } from "../lib/uploads/upload-store.ts";
import { routes } from "./routes.ts";

const route = routes.getWorkItemUpload;

export const create = (runtime: Runtime<typeof route.touches>): ApiHandler => {
  const store = createUploadStore(runtime.dynamodb, runtime.environment.WORK_ITEMS_TABLE, runtime.clock);
  return endpoint(route, runtime, async ({ organization, params }) => {
    const snapshot = await store.read({ organization: organization.id, id: params["id"] ?? "" });
    if (!snapshot) throw new NotFoundError("work item upload not found");
    return { body: { data: toUploadJobResponse(snapshot) } };
  });
};

export const handler = lambda(route.touches, create);
