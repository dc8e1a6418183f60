import { GetObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { isoTime } from "../lib/clock.ts";
import { NotFoundError } from "../lib/errors.ts";
import { type ApiHandler, endpoint } from "../lib/http/endpoint.ts";
import { objectKeys } from "../lib/uploads/upload-objects.ts";
import { isEnded, toUploadJobResponse } from "../lib/uploads/upload-record.ts";
import { createUploadStore } from "../lib/uploads/upload-store.ts";
import { routes } from "./routes.ts";

const route = routes.getWorkItemUploadFailedRows;

const LINK_SECONDS = 15 * 60;

export const create = (runtime: Runtime<typeof route.touches>): ApiHandler => {
  const { environment, dynamodb, s3, clock } = runtime;
  const store = createUploadStore(dynamodb, environment.WORK_ITEMS_TABLE, clock);

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

export const handler = lambda(route.touches, create);
