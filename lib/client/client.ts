import createFetchClient from "openapi-fetch";
import { accepted, ApiError } from "./api-error.ts";
import type { operations, paths } from "./api.ts";
import { applyInBatches } from "./batches.ts";
import { failedRowsIn } from "./csv.ts";
import { entriesOf } from "./pages.ts";
import { fetchWithRetries, retryAfterMs, type RetryOptions, wait } from "./retries.ts";
import type {
  BatchResult,
  UploadJob,
  WorkItem,
  WorkItemEvent,
  WorkItemEventInput,
  WorkItemInput,
  WorkItemPatch,
  WorkItemUpload,
  WorkItemWithEvents,
  ConversationUpload,
  ConversationUploadListItem,
} from "./schemas.ts";
import {
  formOf,
  hasEnded,
  isSmall,
  nameOf,
  presignedFormOf,
  toBlob,
  type Upload,
  type UploadFile,
  type UploadOptions,
  type WaitOptions,
} from "./uploads.ts";

export { ApiError } from "./api-error.ts";
export type { FailedRow } from "./csv.ts";
export { inputOf } from "./schemas.ts";
export type * from "./schemas.ts";
export type { Upload, UploadFile, UploadOptions, WaitOptions } from "./uploads.ts";

/** Where the service is, and as whom it is called. */
export interface ClientOptions extends RetryOptions {
  /** For example `https://us.api.example.com`. A path, such as a stage's, is kept. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

type QueryOf<Name extends keyof operations> = Omit<NonNullable<operations[Name]["parameters"]["query"]>, "cursor">;

/** How many items are applied. */
export interface ApplyOptions extends CallOptions {
  /** Calls at the same time. @default 4 */
  readonly concurrency?: number;
  /** Whether nothing is written. @default false */
  readonly dryRun?: boolean;
  /** Whether invalid items become results with an error, or refuse their call. @default "refuse" */
  readonly onInvalid?: "refuse" | "skip";
}

/** Seconds between polls where the service does not say. */
const POLL_MS = 1000;
const CONCURRENCY = 4;

const signalOf = ({ signal }: CallOptions) => (signal === undefined ? {} : { signal });

/** Makes a client of the service. Requests that were not answered, or refused with 429 or 503, are sent again. */
export const createClient = ({ baseUrl, apiKey, ...retryOptions }: ClientOptions) => {
  const http = createFetchClient<paths>({
    baseUrl: baseUrl.replace(/\/+$/, ""),
    headers: { authorization: `Bearer ${apiKey}`, accept: "application/json, application/problem+json" },
    fetch: fetchWithRetries(retryOptions),
  });
  const sendFile = retryOptions.fetch ?? globalThis.fetch;
  const path = (id: string) => ({ path: { id } });

  const getUpload = async (id: string, options: CallOptions = {}) =>
    accepted(http.GET("/v1/work_items/upload/{id}", { params: path(id), ...signalOf(options) }));

  const waitFor = async (id: string, { onProgress, ...options }: WaitOptions = {}): Promise<UploadJob> => {
    for (;;) {
      const { body, headers } = await getUpload(id, options);
      onProgress?.(body.data);
      if (hasEnded(body.data)) return body.data;
      await wait(retryAfterMs(headers) ?? POLL_MS, options.signal);
    }
  };

  const cancelUpload = async (id: string, options: CallOptions = {}): Promise<UploadJob> => {
    const call = http.DELETE("/v1/work_items/upload/{id}", { params: path(id), ...signalOf(options) });
    return (await accepted(call)).body.data;
  };

  const failedRows = async function* (id: string, options: CallOptions = {}) {
    const call = http.GET("/v1/work_items/upload/{id}/failed_rows", { params: path(id), ...signalOf(options) });
    const { url } = (await accepted(call)).body.data;
    if (url === null) return;
    const report = await sendFile(url, signalOf(options));
    if (!report.ok) throw new ApiError(report.status, {}, null);
    yield* failedRowsIn(await report.text());
  };

  const postForm = async (url: string, body: FormData, options: CallOptions): Promise<void> => {
    const response = await sendFile(url, { method: "POST", body, ...signalOf(options) });
    if (!response.ok) throw new ApiError(response.status, { error: await response.text() }, null);
  };

  const upload = async (given: UploadFile, options: UploadOptions = {}): Promise<Upload> => {
    const file = await toBlob(given);
    const { mapping, dryRun, idempotencyKey = crypto.randomUUID() } = options;
    const named = {
      filename: nameOf(file, options),
      size: file.size,
      ...(mapping !== undefined && { mapping }),
      ...(dryRun !== undefined && { dry_run: dryRun }),
    };
    const { body } = await accepted(
      http.POST("/v1/work_items/upload", {
        params: { header: { "Idempotency-Key": idempotencyKey } },
        body: { upload: named },
        ...(isSmall(file) && { bodySerializer: () => formOf(file, options) }),
        ...signalOf(options),
      }),
    );
    const form = body.meta?.upload;
    // A repeated key may name a job whose file is there already.
    if (form !== undefined && body.data.status === "pending") {
      const filled = presignedFormOf(file, form.fields);
      await (options.postForm?.(form.url, filled) ?? postForm(form.url, filled, options));
    }
    const { id } = body.data;
    return {
      id,
      job: body.data,
      wait: (waitOptions) => waitFor(id, waitOptions),
      failedRows: (signal) => failedRows(id, signal === undefined ? {} : { signal }),
      cancel: (signal) => cancelUpload(id, signal === undefined ? {} : { signal }),
    };
  };

  const applyBatch = async (
    items: readonly WorkItemInput[],
    { dryRun = false, onInvalid = "refuse", ...options }: ApplyOptions,
  ): Promise<readonly BatchResult[]> => {
    const call = http.POST("/v1/work_items/batch", {
      body: { work_items: [...items], dry_run: dryRun, on_invalid: onInvalid },
      ...signalOf(options),
    });
    return (await accepted(call)).body.data.results;
  };

  const workItems = {
    /** Creates an item. @throws ApiError with the status 409 if its external_id exists */
    create: async (
      item: WorkItemInput,
      { idempotencyKey = crypto.randomUUID(), ...options }: CallOptions & { readonly idempotencyKey?: string } = {},
    ): Promise<WorkItemWithEvents> => {
      const params = { header: { "Idempotency-Key": idempotencyKey } };
      const call = http.POST("/v1/work_items", { params, body: { work_item: item }, ...signalOf(options) });
      return (await accepted(call)).body.data;
    },
    get: async (id: string, options: CallOptions = {}): Promise<WorkItemWithEvents & { readonly etag: string }> => {
      const call = http.GET("/v1/work_items/{id}", { params: path(id), ...signalOf(options) });
      const { body, headers } = await accepted(call);
      return { ...body.data, etag: headers.get("etag") ?? "" };
    },
    /** Changes the fields that are given. @throws ApiError with the status 412 if it has not the version of `ifMatch` */
    update: async (
      id: string,
      changes: WorkItemPatch,
      { ifMatch, ...options }: CallOptions & { readonly ifMatch?: string } = {},
    ): Promise<WorkItemWithEvents> => {
      const params = { ...path(id), ...(ifMatch !== undefined && { header: { "If-Match": ifMatch } }) };
      const call = http.PATCH("/v1/work_items/{id}", { params, body: { work_item: changes }, ...signalOf(options) });
      return (await accepted(call)).body.data;
    },
    delete: async (id: string, options: CallOptions = {}): Promise<void> => {
      await accepted(http.DELETE("/v1/work_items/{id}", { params: path(id), ...signalOf(options) }));
    },
    list: (filters: QueryOf<"listWorkItems"> = {}, options: CallOptions = {}): AsyncGenerator<WorkItem> =>
      entriesOf(async (cursor) => {
        const params = { query: { ...filters, ...cursor } };
        return (await accepted(http.GET("/v1/work_items", { params, ...signalOf(options) }))).body;
      }),
    /** Creates, updates or restores any number of items, and yields their results in order. */
    apply: (
      items: Iterable<WorkItemInput> | AsyncIterable<WorkItemInput>,
      options: ApplyOptions = {},
    ): AsyncGenerator<BatchResult, void, undefined> =>
      applyInBatches(items, (batch) => applyBatch(batch, options), options.concurrency ?? CONCURRENCY),
    /** Creates the event, or updates the one with its external_id. */
    upsertEvent: async (id: string, event: WorkItemEventInput, options: CallOptions = {}): Promise<WorkItemEvent> => {
      const call = http.POST("/v1/work_items/{id}/events", { params: path(id), body: { event }, ...signalOf(options) });
      return (await accepted(call)).body.data;
    },
    events: (id: string, options: CallOptions = {}): AsyncGenerator<WorkItemEvent> =>
      entriesOf(async (query) => {
        const params = { ...path(id), query };
        return (await accepted(http.GET("/v1/work_items/{id}/events", { params, ...signalOf(options) }))).body;
      }),
  };

  const uploads = {
    /** Uploads a file: a small one in the request itself, a large one by a presigned form. */
    upload,
    get: async (id: string, options: CallOptions = {}): Promise<UploadJob> => (await getUpload(id, options)).body.data,
    /** Polls until a job has ended. */
    wait: waitFor,
    list: (filters: QueryOf<"listWorkItemUploads"> = {}, options: CallOptions = {}): AsyncGenerator<WorkItemUpload> =>
      entriesOf(async (cursor) => {
        const params = { query: { ...filters, ...cursor } };
        return (await accepted(http.GET("/v1/work_items/upload", { params, ...signalOf(options) }))).body;
      }),
    cancel: cancelUpload,
    failedRows,
  };

  const conversationUploads = {
    get: async (id: string, options: CallOptions = {}): Promise<ConversationUpload> => {
      const call = http.GET("/v1/conversation_uploads/{id}", { params: path(id), ...signalOf(options) });
      return (await accepted(call)).body.data;
    },
    list: (
      filters: QueryOf<"listConversationUploads"> = {},
      options: CallOptions = {},
    ): AsyncGenerator<ConversationUploadListItem> =>
      entriesOf(async (cursor) => {
        const params = { query: { ...filters, ...cursor } };
        return (await accepted(http.GET("/v1/conversation_uploads", { params, ...signalOf(options) }))).body;
      }),
  };

  return {
    /** Every endpoint as it is, with the types of the document. */ http,
    workItems,
    uploads,
    conversationUploads,
  };
};
/** A client of the service. */
export type Client = ReturnType<typeof createClient>;
