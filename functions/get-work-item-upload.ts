import { NotFoundError } from "../lib/errors.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { createFindUndoneBy } from "../lib/uploads/job/undos.ts";
import { openJobHeaders } from "../lib/uploads/job/upload-job.ts";
import { toSingleUploadJobResponse } from "../lib/uploads/job/upload-record.ts";
import { UploadStore } from "../lib/uploads/job/upload-store.ts";
import { uploadRoutes } from "./routes/uploads.ts";

/** `GET /v1/work_items/upload/{id}` */
export const { create, handler } = endpoint(uploadRoutes.getWorkItemUpload, {}, (runtime) => {
  const store = new UploadStore(runtime);
  const findUndoneBy = createFindUndoneBy(runtime);
  return async ({ organization, id }) => {
    const snapshot = await store.read({ organization: organization.id, id });
    if (!snapshot) throw new NotFoundError("work item upload not found");
    const data = toSingleUploadJobResponse(snapshot, (await findUndoneBy(organization, [snapshot.job])).get(id));
    return { body: { data }, headers: openJobHeaders(data, runtime.clock()) };
  };
});
