import type { S3Client } from "@aws-sdk/client-s3";
import { createPresignedPost } from "@aws-sdk/s3-presigned-post";
import * as z from "zod";
import { type Clock, isoTime } from "../clock.ts";
import { storedTimestamp, text } from "../fields.ts";
import { objectKeys } from "./upload-objects.ts";
import type { UploadJob } from "./upload-record.ts";

/** What S3 takes in one POST. */
export const FORM_MAX_BYTES = 5 * 1024 ** 3;
const FORM_MINUTES = 15;

/** Asks for a form instead of sending the file. */
export const uploadFormRequestSchema = z
  .strictObject({
    upload: z.strictObject({
      filename: text(),
      size: z
        .int("must be a whole number of bytes")
        .min(1, "must be at least 1 byte")
        .max(FORM_MAX_BYTES, `must be at most ${FORM_MAX_BYTES} bytes`),
    }),
  })
  .meta({ id: "WorkItemUploadForm" });

/** A form to post the file with: all `fields`, then the file as the last field, `file`. */
export const uploadFormSchema = z.strictObject({
  url: z.string(),
  fields: z.record(z.string(), z.string()),
  expires_at: storedTimestamp,
});
export type UploadForm = z.infer<typeof uploadFormSchema>;

/** Milliseconds since the epoch until which a job's form is taken. */
export const formExpiry = (job: UploadJob): number => Date.parse(job.created_at) + FORM_MINUTES * 60_000;

/** A form that S3 takes for this job's file alone, at exactly the size that was announced; null once it has expired. */
export const createUploadForm = async (
  s3: S3Client,
  bucket: string,
  job: UploadJob,
  clock: Clock,
): Promise<UploadForm | null> => {
  const { expected_size: size = 0 } = job;
  const expiry = formExpiry(job);
  const seconds = Math.floor((expiry - clock()) / 1000);
  if (seconds <= 0) return null;
  const { url, fields } = await createPresignedPost(s3, {
    Bucket: bucket,
    Key: objectKeys.source(job),
    Conditions: [["content-length-range", size, size]],
    Expires: seconds,
  });
  return { url, fields, expires_at: isoTime(expiry) };
};
