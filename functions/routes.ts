import * as z from "zod";
import type { Touches } from "../lib/aws/touches.ts";
import {
  conversationUploadListItemSchema,
  conversationUploadSchema,
} from "../lib/conversation-uploads/conversation-upload.ts";
import { email, externalId, text, timestamp, uuid } from "../lib/fields.ts";
import { cursorParameter, limitParameter, pageOf } from "../lib/http/page.ts";
import { uploadFormRequestSchema, uploadFormSchema } from "../lib/uploads/upload-form.ts";
import { failedRowsSchema, uploadJobSchema, uploadStatusSchema } from "../lib/uploads/upload-job.ts";
import {
  batchResultSchema,
  EVENTS_PER_BATCH_MAX,
  eventInputSchema,
  ITEMS_PER_BATCH_MAX,
  workItemEventSchema,
  workItemInputSchema,
  workItemPatchSchema,
  workItemSchema,
  workItemStatusSchema,
  workItemWithEventsSchema,
} from "../lib/work-items/work-item.ts";

/** How the body of a request is read before the schema sees it. */
export type BodyKind = "none" | "json" | "multipart-or-json";

/** One endpoint: the row that feeds the deployment, the local gateway, the OpenAPI document and the tests. */
export interface Route {
  /** Also the file name of the Lambda in `functions/`. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** API Gateway resource path. */
  readonly path: string;
  readonly summary: string;
  readonly bodyKind: BodyKind;
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  readonly response: z.ZodType;
  /** Status of the ordinary success. */
  readonly status: 200 | 201 | 202;
  /** Beyond the contract. */
  readonly extension?: boolean;
  /** Holds no organization's data: exempt from API keys and rate limits. */
  readonly public?: boolean;
  readonly touches: Touches;
}

const route = <const R extends Route>(row: R): R => row;

/** Every endpoint that needs a key: who calls, and how often. */
const edge = {
  access: { actions: ["GetItem"] },
  limits: { actions: ["UpdateItem"] },
} as const satisfies Touches;

const noQuery = z.strictObject({});
const noBody = z.undefined();

const itemWithEvents = z.strictObject({
  data: workItemWithEventsSchema,
  meta: z
    .strictObject({ events: z.strictObject({ next: z.string() }) })
    .optional()
    .meta({ description: "Present where the events would not fit: read the rest at /events with this cursor." }),
});

const batchBody = z
  .strictObject({
    work_items: z
      .array(workItemInputSchema)
      .min(1, "must hold at least 1 item")
      .max(ITEMS_PER_BATCH_MAX, `must hold at most ${ITEMS_PER_BATCH_MAX} items`),
    dry_run: z.boolean().default(false),
  })
  .refine(
    (body) => body.work_items.reduce((sum, item) => sum + (item.events?.length ?? 0), 0) <= EVENTS_PER_BATCH_MAX,
    {
      path: ["work_items"],
      message: `must hold at most ${EVENTS_PER_BATCH_MAX} events in all`,
    },
  );

export const routes = {
  applyWorkItemBatch: route({
    name: "apply-work-item-batch",
    method: "POST",
    path: "/v1/work_items/batch",
    summary: "Create, update or restore up to 100 work items by external_id",
    bodyKind: "json",
    query: noQuery,
    body: batchBody,
    response: z.strictObject({
      data: z.strictObject({
        dry_run: z.boolean(),
        summary: z.strictObject({
          total: z.int(),
          created: z.int(),
          updated: z.int(),
          unchanged: z.int(),
          restored: z.int(),
          error: z.int(),
        }),
        results: z.array(batchResultSchema),
      }),
    }),
    status: 200,
    touches: {
      ...edge,
      workItems: {
        actions: ["BatchGetItem", "PartiQLInsert", "PartiQLUpdate", "PutItem", "UpdateItem"],
        keys: ["ITEM#*"],
      },
    },
  }),
  createWorkItem: route({
    name: "create-work-item",
    method: "POST",
    path: "/v1/work_items",
    summary: "Create a work item",
    bodyKind: "json",
    query: noQuery,
    body: z.strictObject({ work_item: workItemInputSchema }),
    response: itemWithEvents,
    status: 201,
    touches: { ...edge, workItems: { actions: ["Query", "PutItem"], keys: ["ITEM#*"] } },
  }),
  listWorkItems: route({
    name: "list-work-items",
    method: "GET",
    path: "/v1/work_items",
    summary: "List work items, newest completion first",
    bodyKind: "none",
    query: z
      .strictObject({
        limit: limitParameter,
        cursor: cursorParameter.optional(),
        external_id: externalId.optional(),
        agent_external_id: text().optional(),
        agent_email: email.optional(),
        type: text().optional(),
        status: workItemStatusSchema.optional(),
        completed_from: timestamp.optional().meta({ description: "Completed at or after (extension)." }),
        completed_to: timestamp.optional().meta({ description: "Completed before (extension)." }),
      })
      .refine(({ completed_from: from, completed_to: to }) => from === undefined || to === undefined || from <= to, {
        path: ["completed_to"],
        message: "must not be before completed_from",
      }),
    body: noBody,
    response: pageOf(workItemSchema),
    status: 200,
    touches: {
      ...edge,
      workItems: { actions: ["Query", "BatchGetItem"], keys: ["ITEM#*", "LIST_ITEM#*"], listing: true },
    },
  }),
  getWorkItem: route({
    name: "get-work-item",
    method: "GET",
    path: "/v1/work_items/{id}",
    summary: "Get a work item with its events",
    bodyKind: "none",
    query: noQuery,
    body: noBody,
    response: itemWithEvents,
    status: 200,
    touches: { ...edge, workItems: { actions: ["Query"], keys: ["ITEM#*"] } },
  }),
  updateWorkItem: route({
    name: "update-work-item",
    method: "PATCH",
    path: "/v1/work_items/{id}",
    summary: "Update a work item; omitted fields keep their values",
    bodyKind: "json",
    query: noQuery,
    body: z.strictObject({ work_item: workItemPatchSchema }),
    response: itemWithEvents,
    status: 200,
    touches: { ...edge, workItems: { actions: ["Query", "UpdateItem"], keys: ["ITEM#*"] } },
  }),
  deleteWorkItem: route({
    name: "delete-work-item",
    method: "DELETE",
    path: "/v1/work_items/{id}",
    summary: "Soft-delete a work item",
    bodyKind: "none",
    query: noQuery,
    body: noBody,
    response: z.strictObject({ data: z.strictObject({ id: uuid, deleted: z.boolean() }) }),
    status: 200,
    touches: { ...edge, workItems: { actions: ["GetItem", "UpdateItem"], keys: ["ITEM#*"] } },
  }),
  upsertWorkItemEvent: route({
    name: "upsert-work-item-event",
    method: "POST",
    path: "/v1/work_items/{id}/events",
    summary: "Create or update a work item event by its external_id",
    bodyKind: "json",
    query: noQuery,
    body: z.strictObject({ event: eventInputSchema }),
    response: z.strictObject({ data: workItemEventSchema }),
    status: 201,
    touches: {
      ...edge,
      workItems: { actions: ["BatchGetItem", "PutItem", "UpdateItem"], keys: ["ITEM#*"] },
    },
  }),
  listWorkItemEvents: route({
    name: "list-work-item-events",
    method: "GET",
    path: "/v1/work_items/{id}/events",
    summary: "List all events of a work item",
    bodyKind: "none",
    query: z.strictObject({ limit: limitParameter, cursor: cursorParameter.optional() }),
    body: noBody,
    response: pageOf(workItemEventSchema),
    status: 200,
    extension: true,
    touches: { ...edge, workItems: { actions: ["GetItem", "Query"], keys: ["ITEM#*"] } },
  }),
  uploadWorkItems: route({
    name: "upload-work-items",
    method: "POST",
    path: "/v1/work_items/upload",
    summary: "Upload a CSV file of work items",
    bodyKind: "multipart-or-json",
    query: noQuery,
    body: uploadFormRequestSchema,
    response: z.strictObject({
      data: uploadJobSchema,
      meta: z
        .strictObject({ upload: uploadFormSchema })
        .optional()
        .meta({ description: "Present where a form was asked for (extension): post the file with it." }),
    }),
    status: 202,
    touches: {
      ...edge,
      workItems: { actions: ["GetItem", "Query", "PutItem"], keys: ["UPLOAD#*", "OPEN_UPLOADS#*"] },
      uploads: { actions: ["PutObject"] },
    },
  }),
  getWorkItemUpload: route({
    name: "get-work-item-upload",
    method: "GET",
    path: "/v1/work_items/upload/{id}",
    summary: "Get a work item upload",
    bodyKind: "none",
    query: noQuery,
    body: noBody,
    response: z.strictObject({ data: uploadJobSchema }),
    status: 200,
    touches: { ...edge, workItems: { actions: ["Query"], keys: ["UPLOAD#*"] } },
  }),
  listWorkItemUploads: route({
    name: "list-work-item-uploads",
    method: "GET",
    path: "/v1/work_items/upload",
    summary: "List work item uploads, newest first",
    bodyKind: "none",
    query: z.strictObject({
      limit: limitParameter,
      cursor: cursorParameter.optional(),
      status: uploadStatusSchema.optional(),
    }),
    body: noBody,
    response: pageOf(uploadJobSchema),
    status: 200,
    extension: true,
    touches: {
      ...edge,
      workItems: { actions: ["Query", "BatchGetItem"], keys: ["UPLOAD#*", "LIST_UPLOAD#*"], listing: true },
    },
  }),
  cancelWorkItemUpload: route({
    name: "cancel-work-item-upload",
    method: "DELETE",
    path: "/v1/work_items/upload/{id}",
    summary: "Cancel a work item upload; rows that were applied stay",
    bodyKind: "none",
    query: noQuery,
    body: noBody,
    response: z.strictObject({ data: uploadJobSchema }),
    status: 200,
    extension: true,
    touches: {
      ...edge,
      workItems: {
        actions: ["Query", "GetItem", "UpdateItem", "DeleteItem"],
        keys: ["UPLOAD#*", "OPEN_UPLOADS#*"],
      },
      uploads: { actions: ["GetObject", "PutObject"] },
    },
  }),
  getWorkItemUploadFailedRows: route({
    name: "get-work-item-upload-failed-rows",
    method: "GET",
    path: "/v1/work_items/upload/{id}/failed_rows",
    summary: "Get the failed rows of a work item upload as a CSV file that can be mended and uploaded",
    bodyKind: "none",
    query: noQuery,
    body: noBody,
    response: z.strictObject({ data: failedRowsSchema }),
    status: 200,
    extension: true,
    touches: {
      ...edge,
      workItems: { actions: ["Query"], keys: ["UPLOAD#*"] },
      uploads: { actions: ["GetObject"] },
    },
  }),
  listConversationUploads: route({
    name: "list-conversation-uploads",
    method: "GET",
    path: "/v1/conversation_uploads",
    summary: "List conversation uploads, newest first",
    bodyKind: "none",
    query: z.strictObject({
      limit: limitParameter,
      cursor: cursorParameter.optional(),
      external_id: externalId.optional(),
    }),
    body: noBody,
    response: pageOf(conversationUploadListItemSchema),
    status: 200,
    touches: {
      ...edge,
      workItems: {
        actions: ["Query", "BatchGetItem"],
        keys: ["CONVERSATION#*", "LIST_CONVERSATION#*"],
        listing: true,
      },
    },
  }),
  getConversationUpload: route({
    name: "get-conversation-upload",
    method: "GET",
    path: "/v1/conversation_uploads/{id}",
    summary: "Get a conversation upload",
    bodyKind: "none",
    query: noQuery,
    body: noBody,
    response: z.strictObject({ data: conversationUploadSchema }),
    status: 200,
    touches: { ...edge, workItems: { actions: ["GetItem"], keys: ["CONVERSATION#*"] } },
  }),
} as const satisfies Record<string, Route>;

/** The rows in order, for whoever walks all endpoints. */
export const allRoutes: readonly Route[] = Object.values(routes);
