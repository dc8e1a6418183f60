import type { ZodOpenApiPathItemObject } from "zod-openapi";
import * as z from "zod";
import { examples } from "../../functions/routes/examples.ts";
import { count, storedTimestamp, uuid } from "../../lib/schema.ts";
import { uploadStatusSchema } from "../../lib/uploads/job/upload-job.ts";
import { JOBS_MAX, type WebhookMessage } from "../../lib/webhooks/endpoint-state.ts";

interface Message {
  readonly summary: string;
  readonly description: string;
  readonly data: z.ZodObject;
  readonly example: object;
}

const { id, status, dry_run, total_rows, succeeded_rows, failed_rows } = examples.completedJob;

/** What the document says about each message. */
const MESSAGES: Readonly<Record<WebhookMessage["type"], Message>> = {
  "work_items.changed": {
    summary: "Work items have changed",
    description: "Read the change feed to its end. At most one a second is sent to a webhook.",
    data: z.looseObject({ sequence: count.describe("The feed has changes up to this cursor.") }),
    example: { sequence: 1_772_361_000_456_000 },
  },
  "upload.ended": {
    summary: "An upload has ended",
    description: "Get the upload for the rest, such as its failed rows.",
    data: z.looseObject({
      id: uuid.describe("ID of the upload."),
      status: uploadStatusSchema.describe("How it ended."),
      dry_run: z.boolean().describe("Whether it was a dry run."),
      undo_of: uuid.optional().describe("ID of the upload that it undoes. Absent if it undoes none."),
      total_rows: count.describe("Number of rows in the file, or that an undo went through."),
      succeeded_rows: count.describe("Number of rows that were applied."),
      failed_rows: count.describe("Number of rows that couldn't be applied."),
      deleted_rows: count.optional().describe("Number of rows whose item an undo deleted. Absent if it isn't an undo."),
      partly_undone_rows: count.optional().describe("Number of rows that an undo only partly restored."),
      kept_rows: count.optional().describe("Number of rows that an undo left as they were."),
    }),
    example: { id, status, dry_run, total_rows, succeeded_rows, failed_rows },
  },
  "uploads.ended": {
    summary: "Uploads may have ended",
    description: `List the uploads. If more than ${JOBS_MAX} messages are waiting, this one stands for the oldest. It is also sent when a webhook is new or resumed.`,
    data: z.looseObject({ more: z.boolean().describe("Always true.") }),
    example: { more: true },
  },
  "webhook.test": {
    summary: "A test that you asked for",
    description: "There is nothing to do.",
    data: z.looseObject({}),
    example: {},
  },
};

const headers = z.object({
  "webhook-id": z.string().describe("ID of the message, the same for each attempt."),
  "webhook-timestamp": z.string().describe("When the attempt was made, in seconds since 1970."),
  "webhook-signature": z
    .string()
    .describe(
      "`v1,` and the HMAC-SHA256 in base64 of ID, timestamp and body, joined by dots. Several while a secret rotates.",
    ),
});

/** Generators make a class of each group. Another one than that of the endpoints, or it replaces theirs. */
const GROUP = "Webhook messages";

/** The messages to webhooks, by type. */
export const webhookItems: Readonly<Record<string, ZodOpenApiPathItemObject>> = Object.fromEntries(
  Object.entries(MESSAGES).map(([type, { summary, description, data, example }]) => {
    // Without a name of its own: oapi-codegen leaves out named schemas that no endpoint has, and then doesn't compile.
    const schema = z.looseObject({
      type: z.literal(type).describe("What happened."),
      timestamp: storedTimestamp.describe("When the attempt was made."),
      data: data.describe("What to fetch."),
    });
    const value = { type, timestamp: examples.completedJob.updated_at, data: example };
    const post = {
      tags: [GROUP],
      operationId: type.replaceAll(/[._](.)/g, (_, letter: string) => letter.toUpperCase()),
      summary,
      description,
      security: [],
      requestParams: { header: headers },
      requestBody: { required: true, content: { "application/json": { schema, example: value } } },
      responses: {
        "2XX": { description: "The message was received. The body isn't read." },
        "4XX": { description: "The message is sent again later. 410 disables the webhook." },
      },
    };
    return [type, { post }];
  }),
);
