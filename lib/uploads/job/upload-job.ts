import * as z from "zod";
import { count, number, storedTimestamp, text, uuid } from "../../schema.ts";
import { mappingSchema } from "../mapping/mapping.ts";

/** States of an upload job. */
export const uploadStatusSchema = z
  .enum(["pending", "processing", "completed", "failed", "cancelled"])
  .meta({ id: "WorkItemUploadStatus" });
/** State of an upload job. */
export type UploadStatus = z.infer<typeof uploadStatusSchema>;

/** An upload job in responses. `succeeded_rows` and `failed_rows` never decrease; their sum is at most `total_rows`. */
export const uploadJobSchema = z
  .strictObject({
    id: uuid,
    status: uploadStatusSchema,
    /** Name of the file (extension). Absent if the request named none. */
    file_name: z.string().optional(),
    /** Bytes of the file (extension). */
    size: count.optional(),
    /** Name of the API key that requested the job (extension). */
    key_name: z.string().optional(),
    /** Whether no item is written: the counters say what a run would do (extension). */
    dry_run: z.boolean(),
    total_rows: count,
    succeeded_rows: count,
    failed_rows: count,
    /** Of the succeeded rows, by what they did to their items (extension). */
    created_rows: count,
    updated_rows: count,
    unchanged_rows: count,
    restored_rows: count,
    error: z.string().optional(),
    created_at: storedTimestamp,
    updated_at: storedTimestamp,
  })
  .meta({ id: "WorkItemUpload" });
/** A value of `uploadJobSchema`. */
export type UploadJobResponse = z.infer<typeof uploadJobSchema>;

/** An upload job by itself, with its mapping if it has one (extension). Lists leave mappings out. */
export const singleUploadJobSchema = uploadJobSchema
  .extend({ mapping: mappingSchema.optional() })
  .meta({ id: "WorkItemUploadWithMapping" });
/** A value of `singleUploadJobSchema`. */
export type SingleUploadJobResponse = z.input<typeof singleUploadJobSchema>;

/** URL of a list of a job's rows. `url` and `expires_at` are null if it has no rows or the job has not ended. */
export const rowListLinkSchema = z
  .strictObject({ url: z.string().nullable(), expires_at: storedTimestamp.nullable(), rows: count })
  .meta({ id: "WorkItemUploadRowList" });
/** A value of `rowListLinkSchema`. */
export type RowListLink = z.infer<typeof rowListLinkSchema>;

/** S3's limit for one POST. */
export const FORM_MAX_BYTES = 5 * 1024 ** 3;

/** What a request says of a file beside its name and size. */
function uploadOptions() {
  return {
    mapping: mappingSchema.optional(),
    dry_run: z.boolean("must be true or false").optional(),
  };
}

/** The text fields of a multipart upload, called `upload[mapping]` and so on. */
export const uploadFieldsSchema = z.strictObject({ upload: z.strictObject(uploadOptions()) });

/** Requests an upload form instead of sending the file. */
export const uploadFormRequestSchema = z.strictObject({
  upload: z.strictObject({
    ...uploadOptions(),
    filename: text(),
    size: number(
      z
        .int("must be a whole number of bytes")
        .min(1, "must be at least 1 byte")
        .max(FORM_MAX_BYTES, `must be at most ${FORM_MAX_BYTES} bytes`),
    ),
  }),
});

/** A form to post the file with: all `fields`, then the file as the last field, `file`. */
export const uploadFormSchema = z.strictObject({
  url: z.string(),
  fields: z.record(z.string(), z.string()),
  expires_at: storedTimestamp,
});
/** A value of `uploadFormSchema`. */
export type UploadForm = z.infer<typeof uploadFormSchema>;
