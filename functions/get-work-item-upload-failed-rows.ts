import { GetObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { isoTime } from "../lib/clock.ts";
import { NotFoundError } from "../lib/errors.ts";
import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { createDynamoDbClient } from "../lib/runtime/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/runtime/runtime.ts";
import { createS3Client } from "../lib/runtime/s3-client.ts";
import { objectKeys } from "../lib/uploads/files/upload-objects.ts";
import { isEnded, toUploadJobResponse } from "../lib/uploads/job/upload-record.ts";
import { createUploadStore } from "../lib/uploads/job/upload-store.ts";
import { routes } from "./routes.ts";

const route = routes.getWorkItemUploadFailedRows;

/** Lifetime of the presigned URL. */
const LINK_SECONDS = 15 * 60;

/** `GET /v1/work_items/upload/{id}/failed_rows` */
export const create = (runtime: Runtime<typeof route.permissions>): ApiHandler => {
  const { environment, s3, clock } = runtime;
  const store = createUploadStore(runtime);

  return endpoint(route, runtime, async ({ organization, params }) => {
    const snapshot = await store.read({ organization: organization.id, id: params["id"] ?? "" });
    if (!snapshot) throw new NotFoundError("work item upload not found");
    const { job } = snapshot;
    const { failed_rows: rows } = toUploadJobResponse(snapshot);
    if (rows === 0 || !isEnded(job)) return { body: { data: { url: null, expires_at: null, rows } } };
    const command = new GetObjectCommand({
      Bucket: environment.UPLOADS_BUCKET,
      Key: objectKeys.report(job),
      ResponseContentType: "text/csv; charset=utf-8",
      ResponseContentDisposition: 'attachment; filename="failed_rows.csv"',
    });
    const expiresAt = isoTime(clock() + LINK_SECONDS * 1000);
    const url = await getSignedUrl(s3, command, { expiresIn: LINK_SECONDS });
    return { body: { data: { url, expires_at: expiresAt, rows } } };
  });
};

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient, s3: createS3Client }, create);
