import { createPresignedPost } from "@aws-sdk/s3-presigned-post";
import { isoTime } from "../../clock.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { objectKeys } from "./upload-objects.ts";
import type { UploadForm } from "../job/upload-job.ts";
import type { UploadJob } from "../job/upload-record.ts";

const FORM_MINUTES = 15;

/** Slowest upload we wait for: 256 KB/s. */
const BYTES_PER_MS = 256;

/** When a job's form expires, in milliseconds since the epoch. */
function formExpiry(job: Pick<UploadJob, "created_at">): number {
  return Date.parse(job.created_at) + FORM_MINUTES * 60_000;
}

/** When the file of a form must have arrived, in milliseconds since the epoch. */
export function fileDue(job: Pick<UploadJob, "created_at" | "expected_size">): number {
  return formExpiry(job) + (job.expected_size ?? 0) / BYTES_PER_MS;
}

/** Makes the function that signs a form for a job's file, with exactly the announced size; null if it has expired. */
export function createUploadForm({ s3, clock, environment }: RuntimeWith<"uploads">) {
  return async (job: UploadJob): Promise<UploadForm | null> => {
    const { expected_size: size = 0 } = job;
    const expiry = formExpiry(job);
    const seconds = Math.floor((expiry - clock()) / 1000);
    if (seconds <= 0) return null;
    const { url, fields } = await createPresignedPost(s3, {
      Bucket: environment.UPLOADS_BUCKET,
      Key: objectKeys.source(job),
      Conditions: [["content-length-range", size, size]],
      Expires: seconds,
    });
    return { url, fields, expires_at: isoTime(expiry) };
  };
}
