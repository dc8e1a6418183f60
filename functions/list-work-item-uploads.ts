import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { type ApiHandler, endpoint } from "../lib/http/endpoint.ts";
import { createListUploads } from "../lib/uploads/list-uploads.ts";
import { createUploadStore } from "../lib/uploads/upload-store.ts";
import { routes } from "./routes.ts";

const route = routes.listWorkItemUploads;

export const create = (runtime: Runtime<typeof route.touches>): ApiHandler => {
  const { dynamodb, environment, clock } = runtime;
  const list = createListUploads(runtime, createUploadStore(dynamodb, environment.WORK_ITEMS_TABLE, clock));
  return endpoint(route, runtime, async ({ organization, query }) => {
    const { data, next } = await list(organization, query);
    return { body: { data, meta: { page: { ...(next !== undefined && { next }), limit: query.limit } } } };
  });
};

export const handler = lambda(route.touches, create);
