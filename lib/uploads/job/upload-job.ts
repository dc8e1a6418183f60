import * as z from "zod";
import { count, storedTimestamp, text, uuid } from "../../schema.ts";
import { CLAIM_MS } from "./claim.ts";
import { rowCounterFields } from "./counters.ts";
import { mappingSchema } from "../mapping/mapping.ts";

/** States of an upload job. */
export const uploadStatusSchema = z
  .enum(["pending", "processing", "completed", "failed", "cancelled"])
  .meta({ id: "WorkItemUploadStatus", description: "Status of an upload job." });
/** State of an upload job. */
export type UploadStatus = z.infer<typeof uploadStatusSchema>;

/** An upload job in responses. `succeeded_rows` and `failed_rows` never decrease; their sum is at most `total_rows`. */
export const uploadJobSchema = z
  .strictObject({
    id: uuid.describe("ID of the job. The same `Idempotency-Key` gives the same ID."),
    status: uploadStatusSchema.describe("Status of the job. The last three are final."),
    file_name: z.string().optional().describe("Name of the file. Extension."),
    size: count.optional().describe("Size of the file in bytes. Extension."),
    key_name: z.string().optional().describe("Name of the API key that was used. Extension."),
    dry_run: z
      .boolean()
      .describe(
        "Whether this is a dry run: no item is saved, and the counters say what an import would do. Extension.",
      ),
    undo_of: uuid
      .optional()
      .describe("ID of the upload that this job undoes. Its rows are those of that upload. Extension."),
    begins_at: storedTimestamp
      .optional()
      .describe(
        `When an undo can begin at the earliest: ${CLAIM_MS / 1000} seconds after the upload ended. Absent in dry runs. Extension.`,
      ),
    undone_by: uuid.optional().describe("ID of the last job that undoes this upload, except dry runs. Extension."),
    total_rows: count.describe("Number of rows in the file, or that an undo goes through. 0 until that is known."),
    ...rowCounterFields(),
    error: z.string().optional().describe("Why the job failed. Absent otherwise."),
    created_at: storedTimestamp.describe("When the job was created."),
    updated_at: storedTimestamp.describe("When the job last made progress."),
  })
  .meta({ id: "WorkItemUpload", description: "A job that applies an uploaded file." });
/** A value of `uploadJobSchema`. */
export type UploadJobResponse = z.infer<typeof uploadJobSchema>;

/** An upload job by itself, with its mapping if it has one, and what a dry run would change (extensions). Lists leave both out. */
export const singleUploadJobSchema = uploadJobSchema
  .extend({
    mapping: mappingSchema.optional().describe("The mapping of the file. Extension."),
    changed_fields: z
      .record(z.string(), count)
      .optional()
      .describe(
        "In how many rows each field of the item would change, by its name; all custom attributes count as `custom_attributes`. Only in dry runs of files. Extension.",
      ),
  })
  .meta({
    id: "WorkItemUploadWithMapping",
    description: "A job that applies an uploaded file, with the file's mapping if it has one.",
  });
/** A value of `singleUploadJobSchema`. */
export type SingleUploadJobResponse = z.input<typeof singleUploadJobSchema>;

/** URL of a list of a job's rows. `url` and `expires_at` are null if it has no rows or the job has not ended. */
export const rowListLinkSchema = z
  .strictObject({
    url: z.string().nullable().describe("A presigned URL."),
    expires_at: storedTimestamp.nullable().describe("When the URL expires."),
    rows: count.describe("Number of rows in the list."),
  })
  .meta({ id: "WorkItemUploadRowList", description: "A list of rows to download." });
/** A value of `rowListLinkSchema`. */
export type RowListLink = z.infer<typeof rowListLinkSchema>;

/** Options of an undo. */
export const undoRequestSchema = z.strictObject({
  undo: z
    .strictObject({
      dry_run: z
        .boolean("must be true or false")
        .optional()
        .describe("If true, no item is saved, and the job counts what the undo would do."),
    })
    .optional()
    .describe("Options of the undo."),
});

/** S3's limit for one POST. */
export const FORM_MAX_BYTES = 5 * 1024 ** 3;
const SIZE_RANGE = `must be a whole number of bytes from 1 to ${FORM_MAX_BYTES}`;

/** What a request says of a file beside its name and size. */
function uploadOptions() {
  return {
    mapping: mappingSchema.optional().describe("How the file's columns become work items. Extension."),
    dry_run: z
      .boolean("must be true or false")
      .optional()
      .describe("If true, no item is saved, and the job counts what an import would do. Extension."),
  };
}

/** The text fields of a multipart upload, called `upload[mapping]` and so on. */
export const uploadFieldsSchema = z.strictObject({ upload: z.strictObject(uploadOptions()) });

/** Requests an upload form instead of sending the file. */
export const uploadFormRequestSchema = z.strictObject({
  upload: z
    .strictObject({
      ...uploadOptions(),
      filename: text().describe("Name of the file."),
      size: z
        .int({ error: ({ input }) => (input === undefined ? undefined : SIZE_RANGE) })
        .min(1, SIZE_RANGE)
        .max(FORM_MAX_BYTES, SIZE_RANGE)
        .describe("Size of the file in bytes."),
    })
    .describe("The file that you are going to upload."),
});

/** A form to post the file with: all `fields`, then the file as the last field, `file`. */
export const uploadFormSchema = z
  .strictObject({
    url: z.string().describe("Where to post the form."),
    fields: z.record(z.string(), z.string()).describe("Fields to post before the file."),
    expires_at: storedTimestamp.describe("When the form expires."),
  })
  .describe("Presigned form for the file. Present if the request was JSON. Extension.");
/** A value of `uploadFormSchema`. */
export type UploadForm = z.infer<typeof uploadFormSchema>;

/** A caller that waits this share of a job's age between polls notices its end soon enough. */
const SHARE_OF_AGE = 0.1;
const POLL_SECONDS = { least: 1, most: 30 };

/** When to poll a job again that hasn't ended. @param now milliseconds since the epoch */
export function openJobHeaders(
  { status, created_at }: Pick<UploadJobResponse, "status" | "created_at">,
  now: number,
): Readonly<Record<string, string>> {
  if (status !== "pending" && status !== "processing") return {};
  const share = Math.ceil(((now - Date.parse(created_at)) / 1000) * SHARE_OF_AGE);
  return { "retry-after": String(Math.min(POLL_SECONDS.most, Math.max(POLL_SECONDS.least, share))) };
}
