import { endpoint } from "../lib/http/endpoint.ts";
import { createS3Client } from "../lib/aws/s3-client.ts";
import { createListLink } from "../lib/uploads/files/list-link.ts";
import { uploadRoutes } from "./routes/uploads.ts";

/** `GET /v1/work_items/upload/{id}/failed_rows` */
export const { create, handler } = endpoint(
  uploadRoutes.getWorkItemUploadFailedRows,
  { s3: createS3Client },
  (runtime) => {
    const linkOf = createListLink(runtime);
    return async ({ organization, id }) => ({
      body: { data: await linkOf({ organization: organization.id, id }, "failed_rows") },
    });
  },
);
