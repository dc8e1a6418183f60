import { endpoint } from "../lib/http/endpoint.ts";
import { toPage } from "../lib/http/pagination.ts";
import { createListUploads } from "../lib/uploads/job/list-uploads.ts";
import { UploadStore } from "../lib/uploads/job/upload-store.ts";
import { uploadRoutes } from "./routes/uploads.ts";

/** `GET /v1/work_items/upload` */
export const { create, handler } = endpoint(uploadRoutes.listWorkItemUploads, {}, (runtime) => {
  const listUploads = createListUploads(runtime, new UploadStore(runtime));
  return async ({ organization, query }) => {
    const { data, next } = await listUploads(organization, query);
    return { body: toPage(data, next, query.limit) };
  };
});
