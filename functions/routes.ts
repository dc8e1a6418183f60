import * as z from "zod";
import {
  conversationUploadListItemSchema,
  conversationUploadSchema,
} from "../lib/conversation-uploads/conversation-upload.ts";
import { cursorParameter, limitParameter, pageOf } from "../lib/http/page.ts";
import { EDGE_PERMISSIONS, type Route } from "../lib/http/route.ts";
import { regionCodeSchema } from "../lib/regions.ts";
import { count, externalId, uuid } from "../lib/scalars.ts";
import {
  rowListLinkSchema,
  singleUploadJobSchema,
  uploadFieldsSchema,
  uploadFormRequestSchema,
  uploadFormSchema,
  uploadJobSchema,
  uploadStatusSchema,
} from "../lib/uploads/job/upload-job.ts";
import { batchInputSchema } from "../lib/work-items/batch-input.ts";
import {
  batchResultSchema,
  eventInputSchema,
  workItemEventSchema,
  workItemInputSchema,
  workItemPatchSchema,
  workItemSchema,
  workItemWithEventsSchema,
} from "../lib/work-items/work-item.ts";
import { workItemFilters } from "../lib/work-items/work-item-filters.ts";

const route = <const R extends Route>(row: R): R => row;

const noQuery = z.strictObject({});
const noBody = z.undefined();

const itemWithEvents = z.strictObject({
  data: workItemWithEventsSchema,
  /** Present where the events would not fit: the rest is read at /events with this cursor. */
  meta: z.strictObject({ events: z.strictObject({ next: z.string() }) }).optional(),
});

/** All endpoints, by the name that the code uses for each. */
export const routes = {
  applyWorkItemBatch: route({
    name: "apply-work-item-batch",
    method: "POST",
    path: "/v1/work_items/batch",
    summary: "Create, update or restore up to 100 work items by external_id",
    bodyKind: "json",
    dryRunScope: "read",
    query: noQuery,
    body: batchInputSchema,
    response: z.strictObject({
      data: z.strictObject({
        dry_run: z.boolean(),
        summary: z.strictObject({
          total: count,
          created: count,
          updated: count,
          unchanged: count,
          restored: count,
          error: count,
        }),
        results: z.array(batchResultSchema),
      }),
    }),
    status: 200,
    permissions: {
      ...EDGE_PERMISSIONS,
      workItems: {
        actions: ["BatchGetItem", "PartiQLInsert", "PartiQLUpdate", "PutItem", "UpdateItem"],
        partitions: ["ITEM"],
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
    permissions: { ...EDGE_PERMISSIONS, workItems: { actions: ["GetItem", "Query", "PutItem"], partitions: ["ITEM"] } },
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
        ...workItemFilters,
      })
      .refine(({ completed_from: from, completed_to: to }) => from === undefined || to === undefined || from <= to, {
        path: ["completed_to"],
        message: "must not be before completed_from",
        params: { code: "too_small" },
      }),
    body: noBody,
    response: pageOf(workItemSchema),
    status: 200,
    permissions: {
      ...EDGE_PERMISSIONS,
      workItems: {
        actions: ["Query", "BatchGetItem"],
        partitions: ["ITEM", "LIST_ITEM", "LIST_ITEM_OF_AGENT"],
        indexes: ["listing", "agents"],
      },
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
    permissions: { ...EDGE_PERMISSIONS, workItems: { actions: ["Query"], partitions: ["ITEM"] } },
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
    permissions: {
      ...EDGE_PERMISSIONS,
      workItems: { actions: ["Query", "GetItem", "UpdateItem"], partitions: ["ITEM"] },
    },
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
    permissions: { ...EDGE_PERMISSIONS, workItems: { actions: ["GetItem", "UpdateItem"], partitions: ["ITEM"] } },
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
    permissions: {
      ...EDGE_PERMISSIONS,
      workItems: { actions: ["BatchGetItem", "PutItem", "UpdateItem"], partitions: ["ITEM"] },
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
    permissions: { ...EDGE_PERMISSIONS, workItems: { actions: ["GetItem", "Query"], partitions: ["ITEM"] } },
  }),
  uploadWorkItems: route({
    name: "upload-work-items",
    method: "POST",
    path: "/v1/work_items/upload",
    summary: "Upload a CSV file of work items",
    bodyKind: "multipart-or-json",
    query: noQuery,
    body: uploadFormRequestSchema,
    fields: uploadFieldsSchema,
    response: z.strictObject({
      data: singleUploadJobSchema,
      /** Present where a form was asked for (extension): the file is posted with it. */
      meta: z.strictObject({ upload: uploadFormSchema }).optional(),
    }),
    status: 202,
    permissions: {
      ...EDGE_PERMISSIONS,
      workItems: {
        actions: ["GetItem", "Query", "PutItem"],
        partitions: ["UPLOAD", "OPEN_UPLOADS", "OPEN_UPLOADS_OF"],
      },
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
    response: z.strictObject({ data: singleUploadJobSchema }),
    status: 200,
    permissions: { ...EDGE_PERMISSIONS, workItems: { actions: ["Query"], partitions: ["UPLOAD"] } },
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
    permissions: {
      ...EDGE_PERMISSIONS,
      workItems: { actions: ["Query", "BatchGetItem"], partitions: ["UPLOAD", "LIST_UPLOAD"], indexes: ["listing"] },
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
    response: z.strictObject({ data: singleUploadJobSchema }),
    status: 200,
    extension: true,
    permissions: {
      ...EDGE_PERMISSIONS,
      workItems: {
        actions: ["Query", "GetItem", "UpdateItem", "DeleteItem"],
        partitions: ["UPLOAD", "OPEN_UPLOADS", "OPEN_UPLOADS_OF"],
      },
      uploads: { actions: ["GetObject", "PutObject", "ListBucket"] },
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
    response: z.strictObject({ data: rowListLinkSchema }),
    status: 200,
    extension: true,
    permissions: {
      ...EDGE_PERMISSIONS,
      workItems: { actions: ["Query"], partitions: ["UPLOAD"] },
      uploads: { actions: ["GetObject"] },
    },
  }),
  getWorkItemUploadResults: route({
    name: "get-work-item-upload-results",
    method: "GET",
    path: "/v1/work_items/upload/{id}/results",
    summary: "Get what became of each row of a work item upload as a CSV file",
    bodyKind: "none",
    query: noQuery,
    body: noBody,
    response: z.strictObject({ data: rowListLinkSchema }),
    status: 200,
    extension: true,
    permissions: {
      ...EDGE_PERMISSIONS,
      workItems: { actions: ["Query"], partitions: ["UPLOAD"] },
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
    permissions: {
      ...EDGE_PERMISSIONS,
      workItems: {
        actions: ["Query", "GetItem", "BatchGetItem"],
        partitions: ["CONVERSATION", "LIST_CONVERSATION"],
        indexes: ["listing"],
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
    permissions: { ...EDGE_PERMISSIONS, workItems: { actions: ["GetItem"], partitions: ["CONVERSATION"] } },
  }),
  getHealth: route({
    name: "get-health",
    method: "GET",
    path: "/v1/health",
    summary: "Tell whether the service works",
    bodyKind: "none",
    query: noQuery,
    body: noBody,
    response: z.strictObject({ status: z.literal("ok"), region: regionCodeSchema, version: z.string() }),
    status: 200,
    extension: true,
    public: true,
    permissions: { workItems: { actions: ["GetItem"], partitions: ["HEALTH"] } },
  }),
  getOpenapiDocument: route({
    name: "get-openapi-document",
    method: "GET",
    path: "/v1/openapi.json",
    summary: "Get the OpenAPI document",
    bodyKind: "none",
    query: noQuery,
    body: noBody,
    response: z.looseObject({ openapi: z.string() }),
    status: 200,
    extension: true,
    public: true,
    permissions: {},
  }),
} as const satisfies Record<string, Route>;

/** The same endpoints in order. */
export const allRoutes: readonly Route[] = Object.values(routes);
