import * as z from "zod";
import {
  conversationUploadListItemSchema,
  conversationUploadSchema,
} from "../lib/conversation-uploads/conversation-upload.ts";
import { pageOf, pageParameters } from "../lib/http/page.ts";
import { EDGE_PERMISSIONS, type EdgePermissions, type Route } from "../lib/http/route.ts";
import { count, externalId, uuid } from "../lib/schema.ts";
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

/** What a row says unless it says otherwise: a request without query and body, and a response with the status 200. */
const DEFAULTS = { bodyKind: "none", query: z.strictObject({}), body: z.undefined(), status: 200 } as const;

type OwnPermissions<R> = R extends { readonly permissions: infer P } ? P : object;

/** A row of an endpoint for callers with a key. It names the permissions that only this endpoint needs. */
const route = <const R extends Omit<Route, keyof typeof DEFAULTS | "permissions"> & Partial<Route>>(row: R) => {
  const permissions = { ...EDGE_PERMISSIONS, ...row.permissions } as EdgePermissions & OwnPermissions<R>;
  return { ...DEFAULTS, ...row, permissions } as Omit<typeof DEFAULTS, keyof R> &
    Omit<R, "permissions"> & { readonly permissions: typeof permissions };
};

/** Makes each row when it is first asked for. */
const eachOnce = <const M extends Readonly<Record<string, () => Route>>>(rows: M) => {
  const made: Record<string, Route> = {};
  for (const [name, make] of Object.entries(rows)) {
    let row: Route | undefined;
    Object.defineProperty(made, name, { enumerable: true, get: () => (row ??= make()) });
  }
  return made as { readonly [N in keyof M]: ReturnType<M[N]> };
};

const itemWithEvents = z.strictObject({
  data: workItemWithEventsSchema,
  /** Present where the events would not fit: the rest is read at /events with this cursor. */
  meta: z.strictObject({ events: z.strictObject({ next: z.string() }) }).optional(),
});

/**
 * All endpoints, by the name that the code uses for each. A row is made when it is asked for, so that a function builds
 * the schemas of its own endpoint alone.
 */
export const routes = eachOnce({
  applyWorkItemBatch: () =>
    route({
      name: "apply-work-item-batch",
      method: "POST",
      path: "/v1/work_items/batch",
      summary: "Create, update or restore up to 100 work items by external_id",
      bodyKind: "json",
      dryRunScope: "read",
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
      permissions: {
        workItems: {
          actions: ["BatchGetItem", "PartiQLInsert", "PartiQLUpdate", "PutItem", "UpdateItem"],
          partitions: ["ITEM"],
        },
      },
    }),
  createWorkItem: () =>
    route({
      name: "create-work-item",
      method: "POST",
      path: "/v1/work_items",
      summary: "Create a work item",
      bodyKind: "json",
      body: z.strictObject({ work_item: workItemInputSchema }),
      response: itemWithEvents,
      status: 201,
      permissions: { workItems: { actions: ["GetItem", "Query", "PutItem"], partitions: ["ITEM"] } },
    }),
  listWorkItems: () =>
    route({
      name: "list-work-items",
      method: "GET",
      path: "/v1/work_items",
      summary: "List work items, newest completion first",
      query: z.strictObject({ ...pageParameters(), ...workItemFilters() }),
      response: pageOf(workItemSchema),
      permissions: {
        workItems: {
          actions: ["Query", "BatchGetItem"],
          partitions: ["ITEM", "LIST_ITEM", "LIST_ITEM_OF_AGENT"],
          indexes: ["listing", "agents"],
        },
      },
    }),
  getWorkItem: () =>
    route({
      name: "get-work-item",
      method: "GET",
      path: "/v1/work_items/{id}",
      summary: "Get a work item with its events",
      response: itemWithEvents,
      permissions: { workItems: { actions: ["Query"], partitions: ["ITEM"] } },
    }),
  updateWorkItem: () =>
    route({
      name: "update-work-item",
      method: "PATCH",
      path: "/v1/work_items/{id}",
      summary: "Update a work item; omitted fields keep their values",
      bodyKind: "json",
      body: z.strictObject({ work_item: workItemPatchSchema }),
      response: itemWithEvents,
      permissions: {
        workItems: { actions: ["Query", "GetItem", "UpdateItem"], partitions: ["ITEM"] },
      },
    }),
  deleteWorkItem: () =>
    route({
      name: "delete-work-item",
      method: "DELETE",
      path: "/v1/work_items/{id}",
      summary: "Soft-delete a work item",
      response: z.strictObject({ data: z.strictObject({ id: uuid, deleted: z.boolean() }) }),
      permissions: { workItems: { actions: ["GetItem", "UpdateItem"], partitions: ["ITEM"] } },
    }),
  upsertWorkItemEvent: () =>
    route({
      name: "upsert-work-item-event",
      method: "POST",
      path: "/v1/work_items/{id}/events",
      summary: "Create or update a work item event by its external_id",
      bodyKind: "json",
      body: z.strictObject({ event: eventInputSchema }),
      response: z.strictObject({ data: workItemEventSchema }),
      status: 201,
      permissions: {
        workItems: { actions: ["BatchGetItem", "PutItem", "UpdateItem"], partitions: ["ITEM"] },
      },
    }),
  listWorkItemEvents: () =>
    route({
      name: "list-work-item-events",
      method: "GET",
      path: "/v1/work_items/{id}/events",
      summary: "List all events of a work item",
      query: z.strictObject(pageParameters()),
      response: pageOf(workItemEventSchema),
      extension: true,
      permissions: { workItems: { actions: ["GetItem", "Query"], partitions: ["ITEM"] } },
    }),
  uploadWorkItems: () =>
    route({
      name: "upload-work-items",
      method: "POST",
      path: "/v1/work_items/upload",
      summary: "Upload a CSV file of work items",
      bodyKind: "multipart-or-json",
      body: uploadFormRequestSchema,
      fields: uploadFieldsSchema,
      response: z.strictObject({
        data: singleUploadJobSchema,
        /** Present where a form was asked for (extension): the file is posted with it. */
        meta: z.strictObject({ upload: uploadFormSchema }).optional(),
      }),
      status: 202,
      permissions: {
        workItems: {
          actions: ["GetItem", "Query", "PutItem"],
          partitions: ["UPLOAD", "OPEN_UPLOADS", "OPEN_UPLOADS_OF"],
        },
        uploads: { actions: ["PutObject"] },
      },
    }),
  getWorkItemUpload: () =>
    route({
      name: "get-work-item-upload",
      method: "GET",
      path: "/v1/work_items/upload/{id}",
      summary: "Get a work item upload",
      response: z.strictObject({ data: singleUploadJobSchema }),
      permissions: { workItems: { actions: ["Query"], partitions: ["UPLOAD"] } },
    }),
  listWorkItemUploads: () =>
    route({
      name: "list-work-item-uploads",
      method: "GET",
      path: "/v1/work_items/upload",
      summary: "List work item uploads, newest first",
      query: z.strictObject({ ...pageParameters(), status: uploadStatusSchema.optional() }),
      response: pageOf(uploadJobSchema),
      extension: true,
      permissions: {
        workItems: { actions: ["Query", "BatchGetItem"], partitions: ["UPLOAD", "LIST_UPLOAD"], indexes: ["listing"] },
      },
    }),
  getWorkItemUploadTemplate: () =>
    ({
      ...DEFAULTS,
      public: true,
      name: "get-work-item-upload-template",
      method: "GET",
      path: "/v1/work_items/upload/template.csv",
      summary: "Get a CSV file to begin with",
      response: z.string(),
      contentType: "text/csv",
      extension: true,
      permissions: {},
    }) as const,
  cancelWorkItemUpload: () =>
    route({
      name: "cancel-work-item-upload",
      method: "DELETE",
      path: "/v1/work_items/upload/{id}",
      summary: "Cancel a work item upload; rows that were applied stay",
      response: z.strictObject({ data: singleUploadJobSchema }),
      extension: true,
      permissions: {
        workItems: {
          actions: ["Query", "GetItem", "PutItem", "UpdateItem", "DeleteItem"],
          partitions: ["UPLOAD", "OPEN_UPLOADS", "OPEN_UPLOADS_OF"],
        },
        partsQueue: { actions: ["SendMessage"] },
      },
    }),
  getWorkItemUploadFailedRows: () =>
    route({
      name: "get-work-item-upload-failed-rows",
      method: "GET",
      path: "/v1/work_items/upload/{id}/failed_rows",
      summary: "Get the failed rows of a work item upload as a CSV file that can be mended and uploaded",
      response: z.strictObject({ data: rowListLinkSchema }),
      extension: true,
      permissions: {
        workItems: { actions: ["Query"], partitions: ["UPLOAD"] },
        uploads: { actions: ["GetObject"] },
      },
    }),
  getWorkItemUploadResults: () =>
    route({
      name: "get-work-item-upload-results",
      method: "GET",
      path: "/v1/work_items/upload/{id}/results",
      summary: "Get what became of each row of a work item upload as a CSV file",
      response: z.strictObject({ data: rowListLinkSchema }),
      extension: true,
      permissions: {
        workItems: { actions: ["Query"], partitions: ["UPLOAD"] },
        uploads: { actions: ["GetObject"] },
      },
    }),
  listConversationUploads: () =>
    route({
      name: "list-conversation-uploads",
      method: "GET",
      path: "/v1/conversation_uploads",
      summary: "List conversation uploads, newest first",
      query: z.strictObject({ ...pageParameters(), external_id: externalId.optional() }),
      response: pageOf(conversationUploadListItemSchema),
      permissions: {
        workItems: {
          actions: ["Query", "GetItem", "BatchGetItem"],
          partitions: ["CONVERSATION", "LIST_CONVERSATION"],
          indexes: ["listing"],
        },
      },
    }),
  getConversationUpload: () =>
    route({
      name: "get-conversation-upload",
      method: "GET",
      path: "/v1/conversation_uploads/{id}",
      summary: "Get a conversation upload",
      response: z.strictObject({ data: conversationUploadSchema }),
      permissions: { workItems: { actions: ["GetItem"], partitions: ["CONVERSATION"] } },
    }),
  getHealth: () =>
    ({
      ...DEFAULTS,
      public: true,
      name: "get-health",
      method: "GET",
      path: "/v1/health",
      summary: "Tell whether the service works",
      response: z.strictObject({ status: z.literal("ok"), region: z.string(), version: z.string() }),
      extension: true,
      permissions: { workItems: { actions: ["GetItem"], partitions: ["HEALTH"] } },
    }) as const,
  getOpenapiDocument: () =>
    ({
      ...DEFAULTS,
      public: true,
      name: "get-openapi-document",
      method: "GET",
      path: "/v1/openapi.json",
      summary: "Get the OpenAPI document",
      response: z.looseObject({ openapi: z.string() }),
      extension: true,
      permissions: {},
    }) as const,
});

/** The same endpoints in order. */
export const allRoutes = (): readonly Route[] => Object.values(routes);
