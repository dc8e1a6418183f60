import type { routes } from "../../functions/routes.ts";
import { templateCsv } from "../../lib/uploads/csv/template.ts";
import type { ErrorStatus } from "./errors.ts";
import { examples } from "./examples.ts";
import type { RequestHeader, ResponseHeader } from "./headers.ts";
import type { Json } from "./schema-form.ts";

const { ids } = examples;

/** Groups of endpoints, in the order in which they are shown. */
export const TAGS = {
  "Work items": "Units of work done by agents, each with the events of its source system.",
  Uploads: "CSV files of work items, applied by jobs.",
  "Conversation uploads": "Conversations that another system processes, to be read.",
  Service: "The service itself.",
} as const;

/** Where a response's body leads: parameters of other operations, as runtime expressions. */
interface Link {
  readonly operationId: keyof typeof routes;
  readonly parameters: Readonly<Record<string, string>>;
  readonly description: string;
}

/** What the document says of an endpoint beside what follows from its row in the route table. */
export interface OperationDescription {
  readonly tag: keyof typeof TAGS;
  readonly description: string;
  /** Value of the path parameter `id` in examples. */
  readonly id?: string;
  /** The example of a JSON body. */
  readonly body?: Json;
  readonly requestHeaders?: readonly RequestHeader[];
  /** What the response with the route's status holds. */
  readonly response: string;
  /** What other successful responses hold, by status. They have the same body. */
  readonly otherResponses?: Readonly<Record<number, string>>;
  readonly example: Json | string;
  /** Headers of successful responses. */
  readonly headers?: readonly ResponseHeader[];
  readonly links?: Readonly<Record<string, Link>>;
  /** Errors in addition to those that follow from the row. */
  readonly errors?: readonly ErrorStatus[];
}

const links = (expression: string, ...operationIds: readonly (keyof typeof routes)[]) =>
  Object.fromEntries(
    operationIds.map((operationId): [string, Link] => [
      operationId,
      { operationId, parameters: { id: expression }, description: "With the id in the response." },
    ]),
  );
const ITEM_OPERATIONS = [
  "getWorkItem",
  "updateWorkItem",
  "deleteWorkItem",
  "upsertWorkItemEvent",
  "listWorkItemEvents",
] as const;
const LIST_OPERATIONS = ["getWorkItemUploadFailedRows", "getWorkItemUploadResults"] as const;
const JOB_OPERATIONS = ["getWorkItemUpload", "cancelWorkItemUpload", ...LIST_OPERATIONS] as const;

const nextPage = (operationId: keyof typeof routes, parameters: Readonly<Record<string, string>> = {}) => ({
  nextPage: {
    operationId,
    parameters: { ...parameters, cursor: "$response.body#/meta/page/next" },
    description: "The page after this one. There is none without `next`.",
  },
});

const page = (data: readonly unknown[], next?: string): Json => ({
  data,
  meta: { page: { ...(next !== undefined && { next }), limit: 50 } },
});

const rowList = (name: string, rows: number): Json => ({
  data: {
    url: `https://bucket.s3.us-east-1.amazonaws.com/uploads/demo/job/${name}.csv?X-Amz-Signature=0a1b2c`,
    expires_at: "2026-03-01T10:45:00.000Z",
    rows,
  },
});

const LISTS =
  "A page may hold fewer entries than `limit`, even none, while `meta.page.next` is there. Go on until it is absent.";

/** The descriptions of all endpoints. */
export const operations: Record<keyof typeof routes, OperationDescription> = {
  applyWorkItemBatch: {
    tag: "Work items",
    description:
      "Creates, updates or restores each item by its `external_id`, in order. Fields that are left out keep their " +
      "values. An item that cannot be applied does not affect the others, and items that are not named stay as they " +
      "are. The same call again applies what is missing and finds the rest `unchanged`.",
    body: { work_items: [examples.itemInput, { external_id: "INC0000046", status: "in_progress" }], dry_run: false },
    response: "The outcome of each item, in the order of the request.",
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
    links: links("$response.body#/data/results/0/data/id", ...ITEM_OPERATIONS),
  },
  createWorkItem: {
    tag: "Work items",
    description:
      "Creates an item with its events in one transaction. Only `external_id` is required. `status` is an extension " +
      "here.",
    body: { work_item: examples.itemInput },
    requestHeaders: ["Idempotency-Key"],
    response: "The created item, or the current one if the request repeats an `Idempotency-Key`.",
    example: { data: examples.itemWithEvents },
    headers: ["ETag"],
    links: links("$response.body#/data/id", ...ITEM_OPERATIONS),
    errors: [409],
  },
  listWorkItems: {
    tag: "Work items",
    description:
      "Items with `completed_at` come first, newest first, then the others by `created_at`, newest first. An item " +
      `must match all filters. ${LISTS}`,
    response: "A page of items without their events.",
    example: page([examples.completed], examples.cursor),
    links: { ...nextPage("listWorkItems"), ...links("$response.body#/data/0/id", ...ITEM_OPERATIONS) },
  },
  getWorkItem: {
    tag: "Work items",
    description: "If an item has very many events, `meta.events.next` is the cursor for the rest of them.",
    id: ids.item,
    response: "The item with its events.",
    example: { data: examples.itemWithEvents },
    links: links("$response.body#/data/id", "updateWorkItem", "deleteWorkItem", "listWorkItemEvents"),
  },
  updateWorkItem: {
    tag: "Work items",
    description:
      "Fields that are left out keep their values, and `custom_attributes` is merged by its top-level keys. " +
      "`external_id` may be given if it is the item's own; `status` is an extension here.",
    id: ids.item,
    body: { work_item: { completed_at: "2026-03-01T11:30:00+01:00", custom_attributes: { solved_by: "restart" } } },
    requestHeaders: ["If-Match"],
    response: "The item as it is now, with its events.",
    example: { data: examples.completedWithEvents },
    headers: ["ETag"],
    links: links("$response.body#/data/id", "getWorkItem", "deleteWorkItem"),
    errors: [412],
  },
  deleteWorkItem: {
    tag: "Work items",
    description:
      "Repeating the call has no further effect. A batch that names the `external_id` restores the item under the " +
      "same id.",
    id: ids.item,
    requestHeaders: ["If-Match"],
    response: "The item is deleted.",
    example: { data: { id: ids.item, deleted: true } },
    errors: [412],
  },
  upsertWorkItemEvent: {
    tag: "Work items",
    description: "Fields that are left out keep their values.",
    id: ids.item,
    body: { event: examples.eventInput },
    response: "The event is created.",
    otherResponses: { 200: "The event is updated, or was so already." },
    example: { data: examples.event },
  },
  listWorkItemEvents: {
    tag: "Work items",
    description: `All events of an item, in no particular order. ${LISTS}`,
    id: ids.item,
    response: "A page of events.",
    example: page([examples.event]),
    links: nextPage("listWorkItemEvents", { id: "$request.path.id" }),
  },
  uploadWorkItems: {
    tag: "Uploads",
    description:
      "Takes a CSV file (UTF-8, commas, a header row) of up to 4 MiB as the form field `upload[file]`, and applies " +
      "its rows by a job: poll it until its status is `completed`, `failed` or `cancelled`. For other delimiters, " +
      "column names and date formats, the form has a mapping too, and with `dry_run` nothing is written (extensions).\n\nLarger files, up to " +
      "5 GiB: send the file's name and size as JSON (an extension). The response then holds `meta.upload` with `url`, " +
      "`fields` and `expires_at`: post all fields to the URL as `multipart/form-data`, and the file as the last " +
      "field, `file`. It must have exactly the announced size.",
    body: { upload: { filename: "items.csv", size: 1048576 } },
    requestHeaders: ["Idempotency-Key"],
    response: "The job that applies the file.",
    example: { data: examples.job },
    headers: ["Retry-After-Job"],
    links: links("$response.body#/data/id", ...JOB_OPERATIONS),
  },
  getWorkItemUpload: {
    tag: "Uploads",
    description: "For polling: counters only grow, and `Retry-After` says when to ask again.",
    id: ids.upload,
    response: "The job.",
    example: { data: examples.completedJob },
    headers: ["Retry-After-Job"],
    links: links("$response.body#/data/id", ...LIST_OPERATIONS),
  },
  listWorkItemUploads: {
    tag: "Uploads",
    description: `Jobs, newest first. ${LISTS}`,
    response: "A page of jobs.",
    example: page([examples.completedJob]),
    links: { ...nextPage("listWorkItemUploads"), ...links("$response.body#/data/0/id", ...JOB_OPERATIONS) },
  },
  cancelWorkItemUpload: {
    tag: "Uploads",
    description: "Rows that are applied stay. Repeating the call has no further effect.",
    id: ids.upload,
    response: "The job, which is cancelled or about to be.",
    example: { data: { ...examples.job, status: "cancelled" } },
    headers: ["Retry-After-Job"],
    links: links("$response.body#/data/id", "getWorkItemUpload"),
    errors: [409],
  },
  getWorkItemUploadFailedRows: {
    tag: "Uploads",
    description:
      "The file has the columns of the uploaded one, then `_row`, `_error`, and the column, value and code of the first " +
      "error. It can be corrected and uploaded as it is.",
    id: ids.upload,
    response: "Where to download the file. `url` is null while the job is open, and if no row failed.",
    example: rowList("failed_rows", 1),
  },
  getWorkItemUploadResults: {
    tag: "Uploads",
    description:
      "The file has a line for every row that was read: `_row`, `external_id`, the item's `id` if the row " +
      "succeeded, and `outcome`: `created`, `updated`, `unchanged`, `restored` or `error`.",
    id: ids.upload,
    response: "Where to download the file. `url` is null while the job is open, and if no row was read.",
    example: rowList("results", 3),
  },
  getWorkItemUploadTemplate: {
    tag: "Uploads",
    description: "It has all columns that a file without mapping may have, and two rows.",
    response: "A CSV file.",
    example: templateCsv(),
    headers: ["Content-Disposition"],
  },
  listConversationUploads: {
    tag: "Conversation uploads",
    description: `Conversation uploads, newest first. ${LISTS}`,
    response: "A page of conversation uploads.",
    example: page([examples.listedConversation]),
    links: {
      ...nextPage("listConversationUploads"),
      ...links("$response.body#/data/0/id", "getConversationUpload"),
    },
  },
  getConversationUpload: {
    tag: "Conversation uploads",
    description: "They are created by another system.",
    id: ids.conversation,
    response: "The conversation upload.",
    example: { data: examples.conversation },
  },
  getHealth: {
    tag: "Service",
    description: "Responds with 503 while the store cannot be read.",
    response: "The service works.",
    example: { status: "ok", region: "us", version: "1.0.0" },
  },
  getOpenapiDocument: {
    tag: "Service",
    description: "This document, with the address at which it was requested as its server.",
    response: "An OpenAPI 3.1 document.",
    example: { openapi: "3.1.1" },
  },
};
