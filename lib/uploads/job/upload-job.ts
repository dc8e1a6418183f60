import * as z from "zod";
import { storedTimestamp, text, uuid } from "../../scalars.ts";

export const uploadStatusSchema = z
  .enum(["pending", "processing", "completed", "failed", "cancelled"])
  .meta({ id: "WorkItemUploadStatus" });
export type UploadStatus = z.infer<typeof uploadStatusSchema>;

/** An upload job as the API answers it. `succeeded_rows` and `failed_rows` never fall and never pass `total_rows`. */
export const uploadJobSchema = z
  .strictObject({
    id: uuid,
    status: uploadStatusSchema,
    total_rows: z.int(),
    succeeded_rows: z.int(),
    failed_rows: z.int(),
    error: z.string().optional(),
    created_at: storedTimestamp,
    updated_at: storedTimestamp,
  })
  .meta({ id: "WorkItemUpload" });
export type UploadJobResponse = z.infer<typeof uploadJobSchema>;

/** Where the report of failed rows can be fetched. `url` and `expires_at` are null until the job has ended, and where no row failed. */
export const failedRowsSchema = z
  .strictObject({ url: z.string().nullable(), expires_at: storedTimestamp.nullable(), rows: z.int() })
  .meta({ id: "WorkItemUploadFailedRows" });

/** What S3 takes in one POST. */
const FORM_MAX_BYTES = 5 * 1024 ** 3;

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
