import * as z from "zod";
import { storedTimestamp, uuid } from "../fields.ts";

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
