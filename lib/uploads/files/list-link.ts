import { GetObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { isoTime } from "../../clock.ts";
import { NotFoundError } from "../../errors.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { listsKeptMs } from "../job/kept-until.ts";
import type { RowListLink } from "../job/upload-job.ts";
import { isEnded, type JobKey, toUploadJobResponse } from "../job/upload-record.ts";
import { UploadStore } from "../job/upload-store.ts";
import type { RowListName } from "./row-list.ts";
import { objectKeys } from "./upload-objects.ts";

/** Lifetime of the presigned URL. */
const LINK_SECONDS = 15 * 60;

/** Makes the browser save a list as a file. */
function headersOf(name: RowListName) {
  return {
    ResponseContentType: "text/csv; charset=utf-8",
    ResponseContentDisposition: `attachment; filename="${name}.csv"`,
  };
}

/**
 * Makes the function that signs the URL of one of a job's lists. It is null if the job hasn't ended, or if the list has no rows
 * or has expired.
 * @throws NotFoundError if there is no such job
 */
export function createListLink(runtime: RuntimeWith<"workItems" | "uploads">) {
  const { s3, clock, environment } = runtime;
  const store = new UploadStore(runtime);
  return async (key: JobKey, name: RowListName): Promise<RowListLink> => {
    const snapshot = await store.read(key);
    if (!snapshot) throw new NotFoundError("work item upload not found");
    const { job } = snapshot;
    const { failed_rows: failed, succeeded_rows: succeeded } = toUploadJobResponse(snapshot);
    const rows = name === "failed_rows" ? failed : failed + succeeded;
    const hasExpired = clock() > Date.parse(job.updated_at) + listsKeptMs(job.dry_run === true);
    if (rows === 0 || !isEnded(job) || job.merged === undefined || hasExpired) {
      return { url: null, expires_at: null, rows };
    }
    const expiresAt = isoTime(clock() + LINK_SECONDS * 1000);
    const command = new GetObjectCommand({
      Bucket: environment.UPLOADS_BUCKET,
      Key: objectKeys.list(job, name, job.merged),
      ...headersOf(name),
    });
    return { url: await getSignedUrl(s3, command, { expiresIn: LINK_SECONDS }), expires_at: expiresAt, rows };
  };
}
