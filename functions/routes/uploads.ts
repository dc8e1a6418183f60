import * as z from "zod";
import { pageOf, pageParameters } from "../../lib/http/pagination.ts";
import { BODY_MAX_BYTES } from "../../lib/http/request-body.ts";
import { route, routesOf } from "../../lib/http/route.ts";
import { UNDO_DAYS, UPLOADS_KEPT_DAYS } from "../../lib/periods.ts";
import { templateCsv } from "../../lib/uploads/csv/template.ts";
import { CLAIM_MS } from "../../lib/uploads/job/claim.ts";
import {
  FORM_MAX_BYTES,
  rowListLinkSchema,
  type SingleUploadJobResponse,
  singleUploadJobSchema,
  undoRequestSchema,
  uploadFieldsSchema,
  uploadFormRequestSchema,
  uploadFormSchema,
  uploadJobSchema,
  uploadStatusSchema,
} from "../../lib/uploads/job/upload-job.ts";
import { examples } from "./examples.ts";
import { examplePage, linksById, LISTS, nextPage } from "./operation.ts";

const LIST_OPERATIONS = ["getWorkItemUploadFailedRows", "getWorkItemUploadResults"] as const;
const JOB_OPERATIONS = ["getWorkItemUpload", "cancelWorkItemUpload", ...LIST_OPERATIONS] as const;

function rowList(name: string, rows: number) {
  return {
    data: {
      url: `https://bucket.s3.us-east-1.amazonaws.com/uploads/demo/job/${name}.csv?X-Amz-Signature=0a1b2c`,
      expires_at: "2026-03-01T10:45:00.000Z",
      rows,
    },
  };
}

/** What the rows of both lists have in common. */
function rowListRow() {
  return {
    scopes: ["read"],
    response: z.strictObject({ data: rowListLinkSchema }),
    extension: true,
    permissions: {
      workItems: { actions: ["Query"], partitions: ["UPLOAD"] },
      uploads: { actions: ["GetObject"] },
    },
  } as const;
}

/** A job without what its sender said about the file, and without what it says of items. */
function withoutFile<R extends { readonly data: SingleUploadJobResponse }>({ data, ...rest }: R) {
  const { file_name: _file, size: _size, key_name: _key, error: _error, mapping: _mapping, ...others } = data;
  const { changed_fields: _changed, ...job } = others;
  return { ...rest, data: job };
}
const UNREAD =
  "Without the scope `read`, the job has no `file_name`, `size`, `key_name`, `mapping`, `changed_fields` or `error`.";

/** Endpoints of upload jobs. */
export const uploadRoutes = routesOf({
  uploadWorkItems: () =>
    route({
      method: "POST",
      path: "/v1/work_items/upload",
      summary: "Upload a CSV file of work items",
      scopes: ["upload"],
      acts: ["dry_run", "mapping.from"],
      withoutRead: withoutFile,
      bodyKind: "multipart-or-json",
      body: uploadFormRequestSchema,
      fields: uploadFieldsSchema,
      response: z.strictObject({
        data: singleUploadJobSchema,
        meta: z.strictObject({ upload: uploadFormSchema }).optional().describe("Information about the response."),
      }),
      status: 202,
      permissions: {
        workItems: {
          actions: ["GetItem", "Query", "PutItem"],
          partitions: ["UPLOAD", "OPEN_UPLOADS"],
          indexes: ["open_jobs"],
        },
        uploads: { actions: ["PutObject"] },
      },
      document: () => ({
        description:
          "Send a CSV file (UTF-8, commas, a header row) of up to " +
          `${BODY_MAX_BYTES / 1024 ** 2} MiB as the form field \`upload[file]\`. A job applies its ` +
          "rows: get it until its status is `completed`, `failed` or `cancelled`. For other delimiters, column names and " +
          "date formats, add a mapping; with `dry_run`, nothing is saved (both are extensions).\n\n" +
          `For larger files, up to ${FORM_MAX_BYTES / 1024 ** 3} GiB, send the file's name and size as JSON (an extension). The response has ` +
          "`meta.upload` with `url`, `fields` and `expires_at`: post all fields to the URL as `multipart/form-data`, with " +
          "the file as the last field, `file`. It must have exactly the announced size.\n\n" +
          UNREAD,
        body: { upload: { filename: "items.csv", size: 1048576 } },
        requestHeaders: ["Idempotency-Key"],
        response: "The job that applies the file.",
        example: { data: examples.job },
        headers: ["Retry-After-Job"],
        links: linksById("$response.body#/data/id", ...JOB_OPERATIONS),
      }),
    }),
  getWorkItemUpload: () =>
    route({
      method: "GET",
      path: "/v1/work_items/upload/{id}",
      summary: "Get a work item upload",
      scopes: ["read"],
      response: z.strictObject({ data: singleUploadJobSchema }),
      permissions: { workItems: { actions: ["Query", "BatchGetItem"], partitions: ["UPLOAD"] } },
      document: () => ({
        description: "Get the job until it has ended. Counters only grow. `Retry-After` says how many seconds to wait.",
        id: examples.ids.upload,
        response: "The job.",
        example: { data: examples.completedJob },
        headers: ["Retry-After-Job"],
        links: linksById("$response.body#/data/id", ...LIST_OPERATIONS),
      }),
    }),
  listWorkItemUploads: () =>
    route({
      method: "GET",
      path: "/v1/work_items/upload",
      summary: "List work item uploads, newest first",
      scopes: ["read"],
      query: z.strictObject({
        ...pageParameters(),
        status: uploadStatusSchema.optional().describe("Only results with this status. Extension."),
      }),
      response: pageOf(uploadJobSchema),
      extension: true,
      permissions: {
        workItems: { actions: ["Query", "BatchGetItem"], partitions: ["UPLOAD", "LIST_UPLOAD"], indexes: ["listing"] },
      },
      document: () => ({
        description: `Jobs, newest first. ${LISTS}`,
        response: "A page of jobs.",
        example: examplePage([examples.completedJob]),
        links: {
          ...nextPage("listWorkItemUploads"),
          ...linksById("$response.body#/data/0/id", ...JOB_OPERATIONS),
        },
      }),
    }),
  getWorkItemUploadTemplate: () =>
    route({
      public: true,
      method: "GET",
      path: "/v1/work_items/upload/template.csv",
      summary: "Download the CSV template",
      response: z.string(),
      contentType: "text/csv",
      extension: true,
      document: () => ({
        description: "A file with all columns that don't need a mapping, and two rows.",
        response: "A CSV file.",
        example: templateCsv(),
        headers: ["Content-Disposition"],
      }),
    }),
  cancelWorkItemUpload: () =>
    route({
      method: "DELETE",
      path: "/v1/work_items/upload/{id}",
      summary: "Cancel a work item upload; applied rows stay",
      scopes: ["upload"],
      withoutRead: withoutFile,
      response: z.strictObject({ data: singleUploadJobSchema }),
      extension: true,
      permissions: {
        workItems: { actions: ["Query", "GetItem", "UpdateItem"], partitions: ["UPLOAD"] },
        chunksQueue: { actions: ["SendMessage"] },
      },
      document: () => ({
        description: `Rows that were applied stay. Canceling a job again has no effect. ${UNREAD}`,
        id: examples.ids.upload,
        response: "The job, which is canceled or about to be.",
        example: { data: { ...examples.job, status: "cancelled" } },
        headers: ["Retry-After-Job"],
        links: linksById("$response.body#/data/id", "getWorkItemUpload"),
        errors: [409],
      }),
    }),
  undoWorkItemUpload: () =>
    route({
      method: "POST",
      path: "/v1/work_items/upload/{id}/undo",
      summary: "Undo a work item upload; what others changed since stays",
      scopes: ["upload"],
      acts: ["dry_run"],
      withoutRead: withoutFile,
      bodyKind: "optional-json",
      body: undoRequestSchema,
      response: z.strictObject({ data: singleUploadJobSchema }),
      status: 202,
      extension: true,
      permissions: {
        workItems: {
          actions: ["GetItem", "BatchGetItem", "Query", "PutItem"],
          partitions: ["UPLOAD", "OPEN_UPLOADS"],
          indexes: ["open_jobs"],
        },
        splitQueue: { actions: ["SendMessage"] },
      },
      document: () => ({
        description:
          "Every field that the upload set goes back to its earlier value unless someone has changed it since; each custom " +
          "attribute counts. What anyone has changed since stays, even if they changed it back, and the results name it. A work item that " +
          "the upload created or restored is deleted again, unless someone else has changed it or its events.\n\n" +
          "The undo is a new job with `undo_of`, and its rows are those of the upload. It starts no sooner than " +
          `${CLAIM_MS / 1000} seconds after the upload ends. Repeat the call to get the same job; if that was canceled or has failed, another one ` +
          "does the rest, up to ten (409 afterwards). With `dry_run`, nothing is saved; while such a dry run is running, the call " +
          `returns its job. An upload can be undone until ${UNDO_DAYS} days after it ended. ${UNREAD}`,
        id: examples.ids.upload,
        body: { undo: { dry_run: true } },
        response: "The job that undoes the upload.",
        example: { data: examples.undoJob },
        headers: ["Retry-After-Job"],
        links: linksById("$response.body#/data/id", ...JOB_OPERATIONS),
        errors: [409, 410],
      }),
    }),
  getWorkItemUploadFailedRows: () =>
    route({
      method: "GET",
      path: "/v1/work_items/upload/{id}/failed_rows",
      summary: "Get failed rows: a CSV file to correct and upload",
      ...rowListRow(),
      document: () => ({
        description:
          "The file has the columns of the uploaded one, then `_row`, `_error`, and the column, value and code of the first " +
          "error. Correct it and upload it as it is.",
        id: examples.ids.upload,
        response: "Where to download the file. `url` is null while the job is open, and if no row failed.",
        example: rowList("failed_rows", 1),
      }),
    }),
  getWorkItemUploadResults: () =>
    route({
      method: "GET",
      path: "/v1/work_items/upload/{id}/results",
      summary: "Get row-by-row results: a CSV file of what each row did",
      ...rowListRow(),
      document: () => ({
        description:
          "The file has a line for every row that was read: `_row`, `external_id`, the item's `id` if the row " +
          "succeeded, and `outcome`: `created`, `updated`, `unchanged`, `restored` or `error`.\n\n" +
          "For the dry run of a file, `changes` is JSON with the fields of the item that the row would change, such as " +
          '`{"status":{"from":"pending","to":"completed"}}`; custom attributes are `custom_attributes.<name>`, and one that ' +
          "doesn't exist is null. In JSON of more than 200 bytes, only `status` keeps its values, and each other field is " +
          "null; if that has more than 1 KB, all attributes are one field, `custom_attributes`. If a worker was " +
          "interrupted, some rows have an array of the names instead. `changes` is empty for other outcomes than `updated` " +
          "and `restored`, and if the row changes only an event or restores an item as it was.\n\n" +
          "For an undo there is a line for every row of the upload that may have been applied. `outcome` says what the undo did " +
          "to the row's item and event: `deleted` (the upload created the item), `undone`, `partly`, `kept`, `dropped`, " +
          "`unchanged` or `error`. If something stays, `kept` is JSON with a `reason`: `changed` (someone has changed these " +
          "fields since), `in_use` (the upload created or restored the item, and someone else has changed it since), " +
          "`in_use_by_event` (only an event of it), `too_large` (with it, the custom attributes would be too large) or " +
          "`forgotten` (later uploads have changed it too often to tell); and with the `fields` of the row that others have changed, with " +
          'both values, such as `{"reason":"changed","fields":{"status":{"imported":"completed","now":"pending"}}}`. Values ' +
          "longer than 200 characters are cut. If the row made the item completed and it isn't any more, `completed_at` is " +
          'named with the `status`, also if others have set it: `{"completed_at":{"now":"2026-02-01T09:30:00.000Z",' +
          '"status":"pending"}}`. The reason is `not_completed` if nothing else stays; `outcome` is then `undone`. For the ' +
          "dry run of an undo, `changes` follows: what would go back in an item that isn't deleted, with values up to 1 KB " +
          "of JSON.\n\n" +
          `Lists of a dry run can be downloaded for a day after its end, all others for ${UPLOADS_KEPT_DAYS} days.`,
        id: examples.ids.upload,
        response: "Where to download the file. `url` is null while the job is open, if no row was read, and later on.",
        example: rowList("results", 3),
      }),
    }),
});
