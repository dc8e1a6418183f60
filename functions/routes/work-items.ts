import * as z from "zod";
import { changeSchema } from "../../lib/changes/change.ts";
import { limitParameter, pageMeta, pageOf, pageParameters } from "../../lib/http/pagination.ts";
import { route, routesOf } from "../../lib/http/route.ts";
import { CURSORS_VALID_DAYS } from "../../lib/periods.ts";
import { count, rule, timestamp } from "../../lib/schema.ts";
import {
  deletedItemSchema,
  foundItemSchema,
  namesSchema,
  type DeletedItem,
  type NamesInput,
  withoutFoundName,
} from "../../lib/work-items/named-items.ts";
import { batchInputSchema } from "../../lib/work-items/batch-input.ts";
import {
  type BatchResult,
  batchResultSchema,
  eventInputSchema,
  ITEMS_PER_BATCH_MAX,
  workItemEventSchema,
  workItemInputSchema,
  workItemPatchSchema,
  workItemSchema,
  workItemWithEventsSchema,
} from "../../lib/work-items/work-item.ts";
import { repeatableFilters, workItemFilters } from "../../lib/work-items/work-item-filters.ts";
import { examples } from "./examples.ts";
import { deletionOf, examplePage, linksById, LISTS, nextPage } from "./operation.ts";

const itemWithEvents = z.strictObject({
  data: workItemWithEventsSchema,
  meta: z
    .strictObject({
      events: z
        .strictObject({ next: z.string().describe("Cursor for the rest, in the item's list of events.") })
        .describe("Events that didn't fit in the response. Absent if all did."),
    })
    .optional()
    .describe("Information about the response."),
});

const CHANGES_PER_PAGE_DEFAULT = 100;
const CHANGES_PER_PAGE_MAX = 1000;

const ITEM_OPERATIONS = [
  "getWorkItem",
  "updateWorkItem",
  "deleteWorkItem",
  "upsertWorkItemEvent",
  "listWorkItemEvents",
] as const;

/** Endpoints of work items and their events. */
export const workItemRoutes = routesOf({
  applyWorkItemBatch: () =>
    route({
      method: "POST",
      path: "/v1/work_items/batch",
      summary: `Apply a batch: create, update or restore up to ${ITEMS_PER_BATCH_MAX} work items`,
      scopes: ["write"],
      bodyKind: "json",
      acts: ["dry_run"],
      withoutRead: ({ data }: { readonly data: { readonly results: readonly BatchResult[] } }) => ({
        data: { ...data, results: data.results.map((result) => ({ ...result, data: null })) },
      }),
      body: batchInputSchema,
      response: z.strictObject({
        data: z
          .strictObject({
            dry_run: z.boolean().describe("Whether this was a dry run."),
            summary: z
              .strictObject({
                total: count.describe("Number of items in the request."),
                created: count.describe("Number of items that were created."),
                updated: count.describe("Number of items that were updated."),
                unchanged: count.describe("Number of items without changes."),
                restored: count.describe("Number of deleted items that were restored."),
                error: count.describe("Number of items that couldn't be applied."),
              })
              .describe("Number of items by result."),
            results: z.array(batchResultSchema).describe("The result of each item, in the order of the request."),
          })
          .describe("The result."),
      }),
      permissions: {
        workItems: {
          actions: ["BatchGetItem", "PartiQLInsert", "PartiQLUpdate", "PutItem", "UpdateItem"],
          partitions: ["ITEM"],
        },
      },
      document: () => ({
        description:
          "Creates, updates or restores each item by its `external_id`, in order. Fields that you leave out keep their " +
          "values. An invalid item rejects the whole call with 422; with `on_invalid: skip` (an extension) it gets an " +
          "`error` instead. An item that can't be applied doesn't affect the others. Sending the same batch again applies what is " +
          "missing and finds the rest `unchanged`. With `dry_run`, nothing is saved. Without the scope `read`, `data` is null.",
        body: {
          work_items: [examples.itemInput, { external_id: "INC0000046", status: "in_progress" }],
          dry_run: false,
        },
        response: "The result of each item, in the order of the request.",
        example: {
          data: {
            dry_run: false,
            summary: { total: 2, created: 2, updated: 0, unchanged: 0, restored: 0, error: 0 },
            results: [
              { index: 0, external_id: examples.item.external_id, status: "created", data: examples.item, error: null },
              { index: 1, external_id: "INC0000046", status: "created", data: null, error: null },
            ],
          },
        },
        links: linksById("$response.body#/data/results/0/data/id", ...ITEM_OPERATIONS),
      }),
    }),
  getWorkItemBatch: () =>
    route({
      method: "POST",
      path: "/v1/work_items/batch_get",
      summary: `Get up to ${ITEMS_PER_BATCH_MAX} work items by their IDs`,
      scopes: ["read"],
      bodyKind: "json",
      body: namesSchema({}),
      response: z.strictObject({
        data: z
          .strictObject({
            results: z.array(foundItemSchema).describe("What was found of each item, in the order of the request."),
          })
          .describe("The result."),
      }),
      extension: true,
      permissions: { workItems: { actions: ["BatchGetItem"], partitions: ["ITEM"] } },
      document: () => ({
        description:
          "Finds items by your own IDs (`external_ids`) or by ours (`ids`), without their events. An ID that no item has, or " +
          "that isn't valid, is `not_found`. Large items may not fit in one response: request those that are `not_returned` " +
          "again. At least the first item always fits.",
        body: { external_ids: [examples.item.external_id, "INC0000099"] },
        response: "What was found of each item, in the order of the request.",
        example: {
          data: {
            results: [
              {
                index: 0,
                id: examples.ids.item,
                external_id: examples.item.external_id,
                status: "found",
                data: examples.item,
                error: null,
              },
              {
                index: 1,
                id: examples.ids.unknown,
                external_id: "INC0000099",
                status: "not_found",
                data: null,
                error: null,
              },
            ],
          },
        },
        links: linksById("$response.body#/data/results/0/id", ...ITEM_OPERATIONS),
      }),
    }),
  deleteWorkItemBatch: () =>
    route({
      method: "POST",
      path: "/v1/work_items/batch_delete",
      summary: `Delete up to ${ITEMS_PER_BATCH_MAX} work items by their IDs`,
      scopes: ["write"],
      bodyKind: "json",
      acts: ["dry_run"],
      withoutRead: (
        { data }: { readonly data: { readonly results: readonly DeletedItem[] } },
        request: NamesInput,
      ) => ({
        data: { ...data, results: data.results.map((result) => withoutFoundName(result, request)) },
      }),
      body: namesSchema({
        dry_run: z
          .boolean()
          .default(false)
          .describe("If true, nothing is deleted, and the response shows what would happen."),
      }),
      response: z.strictObject({
        data: z
          .strictObject({
            dry_run: z.boolean().describe("Whether this was a dry run."),
            summary: z
              .strictObject({
                total: count.describe("Number of IDs in the request."),
                deleted: count.describe("Number of items that were deleted."),
                unchanged: count.describe("Number of items that were deleted before."),
                not_found: count.describe("Number of IDs that no item has."),
                error: count.describe("Number of items that couldn't be deleted."),
              })
              .describe("Number of items by result."),
            results: z.array(deletedItemSchema).describe("What happened to each item, in the order of the request."),
          })
          .describe("The result."),
      }),
      extension: true,
      permissions: {
        workItems: { actions: ["BatchGetItem", "PartiQLUpdate", "UpdateItem"], partitions: ["ITEM"] },
      },
      document: () => ({
        description:
          "Deletes items by your own IDs (`external_ids`) or by ours (`ids`), as deleting them one by one does. Sending the " +
          "same request again finds them `unchanged`. An item that can't be deleted doesn't affect the others. With " +
          "`dry_run`, nothing is deleted. Without the scope `read`, `external_id` is null unless you sent it.",
        body: { external_ids: [examples.item.external_id, "INC0000099"], dry_run: false },
        response: "What happened to each item, in the order of the request.",
        example: {
          data: {
            dry_run: false,
            summary: { total: 2, deleted: 1, unchanged: 0, not_found: 1, error: 0 },
            results: [
              {
                index: 0,
                id: examples.ids.item,
                external_id: examples.item.external_id,
                status: "deleted",
                error: null,
              },
              { index: 1, id: examples.ids.unknown, external_id: "INC0000099", status: "not_found", error: null },
            ],
          },
        },
      }),
    }),
  createWorkItem: () =>
    route({
      method: "POST",
      path: "/v1/work_items",
      summary: "Create a work item",
      scopes: ["write"],
      bodyKind: "json",
      body: z.strictObject({ work_item: workItemInputSchema }),
      response: itemWithEvents,
      status: 201,
      permissions: { workItems: { actions: ["GetItem", "Query", "PutItem"], partitions: ["ITEM"] } },
      document: () => ({
        description:
          "Creates an item with its events in one transaction. Only `external_id` is required. Sending `status` here is an " +
          "extension. A request that repeats an `Idempotency-Key` needs the scope `read` too if the item or its events have " +
          "changed since.",
        body: { work_item: examples.itemInput },
        requestHeaders: ["Idempotency-Key"],
        response: "The created item, or the current one if the request repeats an `Idempotency-Key`.",
        example: { data: examples.itemWithEvents },
        headers: ["ETag"],
        links: linksById("$response.body#/data/id", ...ITEM_OPERATIONS),
        errors: [409],
      }),
    }),
  listWorkItems: () =>
    route({
      method: "GET",
      path: "/v1/work_items",
      summary: "List work items, newest completion first",
      scopes: ["read"],
      query: z.strictObject({ ...pageParameters(), ...workItemFilters() }),
      repeatable: repeatableFilters,
      response: pageOf(workItemSchema),
      permissions: {
        workItems: {
          actions: ["Query", "BatchGetItem"],
          partitions: ["ITEM", "LIST_ITEM", "LIST_ITEM_OF_AGENT"],
          indexes: ["listing", "agents"],
        },
      },
      document: () => ({
        description:
          "Items with `completed_at` come first, newest first. The others follow by `created_at`, newest first. An item " +
          `must match all filters. ${LISTS}`,
        response: "A page of items without their events.",
        example: examplePage([examples.completed], examples.cursor),
        links: {
          ...nextPage("listWorkItems"),
          ...linksById("$response.body#/data/0/id", ...ITEM_OPERATIONS),
        },
      }),
    }),
  listWorkItemChanges: () =>
    route({
      method: "GET",
      path: "/v1/work_items/changes",
      summary: "List changes of work items",
      scopes: ["read"],
      query: z
        .strictObject({
          after: z
            .string()
            .min(1, "must not be empty")
            .optional()
            .describe(
              "`meta.page.next` of an earlier page, or a `sequence`. Without it, or with 0, the feed starts with the whole list; with `now`, after the newest change.",
            ),
          since: timestamp()
            .optional()
            .describe(
              "Starts with what changed at or after this time instead of the whole list. Can't be combined with `after`. In a URL, write `+` as `%2B`.",
            ),
          limit: limitParameter(CHANGES_PER_PAGE_DEFAULT, CHANGES_PER_PAGE_MAX),
          include: z
            .literal("events", "must be events")
            .optional()
            .describe("`events` includes each item's events. Pages may then be shorter."),
        })
        .refine(({ after, since }) => after === undefined || since === undefined, {
          path: ["since"],
          ...rule("invalid", "must not be sent with after"),
        }),
      response: z.strictObject({
        data: z.array(changeSchema).describe("The result."),
        meta: pageMeta(
          z.string(),
          { more: z.boolean().describe("Whether there are more changes at the moment.") },
          CHANGES_PER_PAGE_MAX,
        ),
      }),
      extension: true,
      permissions: {
        workItems: { actions: ["Query", "BatchGetItem"], partitions: ["ITEM", "LIST_ITEM"], indexes: ["listing"] },
        changes: { actions: ["Query"], partitions: ["LOG"] },
      },
      document: () => ({
        description:
          "Use it to keep an exact copy of all work items. Without `after`, the feed starts with the whole list and " +
          "continues with what changed since; with `since`, it starts with what changed at or after a time. Pass `meta.page.next` as `after` to continue; `meta.page.more` is false at " +
          "the end of the feed. Each record shows the item as it is now: replace your copy by `id`, or delete it if " +
          "`deleted_at` is set. An item may appear more often than it changed, never less often. A page may have fewer " +
          `records than \`limit\` while \`meta.page.more\` is true. Cursors are valid for ${CURSORS_VALID_DAYS} days.`,
        response: "A page of changed items, sorted by `sequence`.",
        example: {
          data: [
            { ...examples.completed, sequence: 1_772_361_000_456_000, deleted_at: null },
            {
              id: examples.ids.erased,
              sequence: 1_772_361_000_456_001,
              deleted_at: "2026-03-01T10:31:00.000Z",
              erased: true,
            },
          ],
          meta: { page: { next: "1772361000456001", limit: 100, more: false } },
        },
        links: {
          nextPage: {
            operationId: "listWorkItemChanges",
            parameters: { after: "$response.body#/meta/page/next" },
            description: "The page after this one, or what changed since it if `meta.page.more` is false.",
          },
          ...linksById("$response.body#/data/0/id", ...ITEM_OPERATIONS),
        },
        errors: [410],
      }),
    }),
  getWorkItem: () =>
    route({
      method: "GET",
      path: "/v1/work_items/{id}",
      summary: "Get a work item with its events",
      scopes: ["read"],
      response: itemWithEvents,
      permissions: { workItems: { actions: ["Query"], partitions: ["ITEM"] } },
      document: () => ({
        description: "If an item has more events than fit, `meta.events.next` is the cursor for the rest.",
        id: examples.ids.item,
        response: "The item with its events.",
        example: { data: examples.itemWithEvents },
        links: linksById("$response.body#/data/id", "updateWorkItem", "deleteWorkItem", "listWorkItemEvents"),
      }),
    }),
  updateWorkItem: () =>
    route({
      method: "PATCH",
      path: "/v1/work_items/{id}",
      summary: "Update a work item; omitted fields keep their values",
      scopes: ["read", "write"],
      bodyKind: "json",
      body: z.strictObject({ work_item: workItemPatchSchema }),
      response: itemWithEvents,
      permissions: {
        workItems: { actions: ["Query", "GetItem", "UpdateItem"], partitions: ["ITEM"] },
      },
      document: () => ({
        description:
          "Fields that you leave out keep their values, and `custom_attributes` are merged by their top-level keys; " +
          "`remove_attributes` removes some (an extension). You may send the item's own `external_id`. Sending `status` here is an extension.",
        id: examples.ids.item,
        body: { work_item: { completed_at: "2026-03-01T11:30:00+01:00", custom_attributes: { solved_by: "restart" } } },
        requestHeaders: ["If-Match"],
        response: "The item as it is now, with its events.",
        example: { data: examples.completedWithEvents },
        headers: ["ETag"],
        links: linksById("$response.body#/data/id", "getWorkItem", "deleteWorkItem"),
        errors: [412],
      }),
    }),
  deleteWorkItem: () =>
    route({
      method: "DELETE",
      path: "/v1/work_items/{id}",
      summary: "Delete a work item",
      scopes: ["write"],
      response: deletionOf("work item"),
      permissions: { workItems: { actions: ["GetItem", "UpdateItem"], partitions: ["ITEM"] } },
      document: () => ({
        description:
          "Deleting an item again has no effect. A batch with its `external_id` restores the item under the same ID.",
        id: examples.ids.item,
        requestHeaders: ["If-Match"],
        response: "The item is deleted.",
        example: { data: { id: examples.ids.item, deleted: true } },
        errors: [412],
      }),
    }),
  upsertWorkItemEvent: () =>
    route({
      method: "POST",
      path: "/v1/work_items/{id}/events",
      summary: "Create or update an event of a work item",
      scopes: ["read", "write"],
      bodyKind: "json",
      body: z.strictObject({ event: eventInputSchema }),
      response: z.strictObject({ data: workItemEventSchema }),
      status: 201,
      permissions: {
        workItems: { actions: ["BatchGetItem", "PutItem", "UpdateItem"], partitions: ["ITEM"] },
      },
      document: () => ({
        description: "Fields that you leave out keep their values.",
        id: examples.ids.item,
        body: { event: examples.eventInput },
        response: "The event is created.",
        otherResponses: { 200: "The event is updated, or had these values already." },
        example: { data: examples.event },
      }),
    }),
  deleteWorkItemEvent: () =>
    route({
      method: "DELETE",
      path: "/v1/work_items/{id}/events/{event_id}",
      summary: "Delete an event of a work item",
      scopes: ["read", "write"],
      response: deletionOf("event"),
      extension: true,
      permissions: {
        workItems: { actions: ["BatchGetItem", "UpdateItem"], partitions: ["ITEM"] },
      },
      document: () => ({
        description:
          "The event stays in the item's events with `deleted_at`. Deleting it again has no effect. Sending an event with its " +
          "`external_id` restores it.",
        id: examples.ids.item,
        response: "The event is deleted.",
        example: { data: { id: examples.ids.event, deleted: true } },
      }),
    }),
  listWorkItemEvents: () =>
    route({
      method: "GET",
      path: "/v1/work_items/{id}/events",
      summary: "List all events of a work item",
      scopes: ["read"],
      query: z.strictObject(pageParameters()),
      response: pageOf(workItemEventSchema),
      extension: true,
      permissions: { workItems: { actions: ["GetItem", "Query"], partitions: ["ITEM"] } },
      document: () => ({
        description: `All events of an item, in no particular order. ${LISTS}`,
        id: examples.ids.item,
        response: "A page of events.",
        example: examplePage([examples.event]),
        links: nextPage("listWorkItemEvents", { id: "$request.path.id" }),
      }),
    }),
});
