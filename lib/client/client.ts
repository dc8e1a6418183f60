import createFetchClient from "openapi-fetch";
import { accepted, ApiError, bodyOf, dataOf } from "./api-error.ts";
import type { operations, paths } from "./api.ts";
import { applyInBatches } from "./batches.ts";
import { changePages, copyChanges, type CopyOptions, type FeedOptions } from "./changes.ts";
import { failedRowsIn } from "./csv.ts";
import { entriesOf } from "./pages.ts";
import { fetchWithRetries, retryAfterMs, type RetryOptions, wait } from "./retries.ts";
import type { UploadJob, WorkItemEventInput, WorkItemInput, WorkItemPatch } from "./schemas.ts";
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
export type { Change, CopyOptions, FeedOptions } from "./changes.ts";
export type { FailedRow } from "./csv.ts";
export { inputOf } from "./schemas.ts";
export type * from "./schemas.ts";
export type { Upload, UploadFile, UploadOptions, WaitOptions } from "./uploads.ts";

/** The service's address and the API key. */
export interface ClientOptions extends RetryOptions {
  /** For example `https://us.api.example.com`. A path, such as a stage's, is kept. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

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
  /** Whether invalid items become results with an error, or their call fails with a 422. @default "refuse" */
  readonly onInvalid?: "refuse" | "skip";
}

/** How the change feed is read. */
export interface ChangesOptions extends FeedOptions {
  /** Whether changes include the events of their items. @default false */
  readonly withEvents?: boolean;
}

/** Milliseconds between polls if the response has no `Retry-After`. */
const POLL_MS = 1000;
const CONCURRENCY = 4;

/** Creates a client. Requests without a response and those that get a 429 or 503 are retried. */
export function createClient({ baseUrl, apiKey, ...retryOptions }: ClientOptions) {
  const http = createFetchClient<paths>({
    baseUrl: baseUrl.replace(/\/+$/, ""),
    headers: { authorization: `Bearer ${apiKey}`, accept: "application/json, application/problem+json" },
    fetch: fetchWithRetries(retryOptions),
  });
  const sendFile = retryOptions.fetch ?? globalThis.fetch;
  const path = (id: string) => ({ path: { id } });

  const waitFor = async (id: string, { onProgress, ...options }: WaitOptions = {}): Promise<UploadJob> => {
    for (;;) {
      const call = http.GET("/v1/work_items/upload/{id}", { params: path(id), ...options });
      const { body, headers } = await accepted(call);
      onProgress?.(body.data);
      if (hasEnded(body.data)) return body.data;
      await wait(retryAfterMs(headers) ?? POLL_MS, options.signal);
    }
  };

  const cancelUpload = (id: string, options: CallOptions = {}): Promise<UploadJob> =>
    dataOf(http.DELETE("/v1/work_items/upload/{id}", { params: path(id), ...options }));

  const failedRows = async function* (id: string, options: CallOptions = {}) {
    const { url } = await dataOf(http.GET("/v1/work_items/upload/{id}/failed_rows", { params: path(id), ...options }));
    if (url === null) return;
    const report = await sendFile(url, options);
    if (!report.ok) throw new ApiError(report.status, {}, null);
    yield* failedRowsIn(await report.text());
  };

  const postForm = async (url: string, body: FormData, options: CallOptions): Promise<void> => {
    const response = await sendFile(url, { method: "POST", body, ...options });
    if (!response.ok) throw new ApiError(response.status, { error: await response.text() }, null);
  };

  const upload = async (given: UploadFile, options: UploadOptions = {}): Promise<Upload> => {
    const file = await toBlob(given);
    const { mapping, dryRun, idempotencyKey = crypto.randomUUID(), signal } = options;
    const signalled = signal === undefined ? {} : { signal };
    const named = {
      filename: nameOf(file, options),
      size: file.size,
      ...(mapping !== undefined && { mapping }),
      ...(dryRun !== undefined && { dry_run: dryRun }),
    };
    const { data: job, meta } = await bodyOf(
      http.POST("/v1/work_items/upload", {
        params: { header: { "Idempotency-Key": idempotencyKey } },
        body: { upload: named },
        ...(isSmall(file) && { bodySerializer: () => formOf(file, options) }),
        ...signalled,
      }),
    );
    // A repeated key may belong to a job whose file has already arrived.
    if (meta?.upload !== undefined && job.status === "pending") {
      const { url, fields } = meta.upload;
      const filled = presignedFormOf(file, fields);
      await (options.postForm?.(url, filled) ?? postForm(url, filled, signalled));
    }
    const { id } = job;
    return {
      id,
      job,
      wait: (waitOptions) => waitFor(id, waitOptions),
      failedRows: (later) => failedRows(id, later === undefined ? {} : { signal: later }),
      cancel: (later) => cancelUpload(id, later === undefined ? {} : { signal: later }),
    };
  };

  const applyBatch = async (items: readonly WorkItemInput[], options: Omit<ApplyOptions, "concurrency">) => {
    const { dryRun = false, onInvalid = "refuse", ...signal } = options;
    const body = { work_items: [...items], dry_run: dryRun, on_invalid: onInvalid };
    return (await dataOf(http.POST("/v1/work_items/batch", { body, ...signal }))).results;
  };

  const changesReader =
    ({ withEvents = false, signal }: Pick<ChangesOptions, "withEvents" | "signal">) =>
    (after: string | number | undefined) => {
      const query = {
        ...(after !== undefined && { after: String(after) }),
        ...(withEvents && { include: "events" as const }),
      };
      return bodyOf(http.GET("/v1/work_items/changes", { params: { query }, ...(signal && { signal }) }));
    };

  /** Yields all work items or what changed after a mark, each as it is now. @throws ApiError with 410: start over */
  const changes = async function* (options: ChangesOptions = {}) {
    for await (const { data } of changePages(changesReader(options), options)) yield* data;
  };

  const workItems = {
    /** Creates an item. @throws ApiError with the status 409 if its external_id exists */
    create: (
      item: WorkItemInput,
      { idempotencyKey = crypto.randomUUID(), ...options }: CallOptions & { readonly idempotencyKey?: string } = {},
    ) => {
      const params = { header: { "Idempotency-Key": idempotencyKey } };
      return dataOf(http.POST("/v1/work_items", { params, body: { work_item: item }, ...options }));
    },
    get: async (id: string, options: CallOptions = {}) => {
      const { body, headers } = await accepted(http.GET("/v1/work_items/{id}", { params: path(id), ...options }));
      return { ...body.data, etag: headers.get("etag") ?? "" };
    },
    /** Changes the given fields. @throws ApiError with the status 412 unless it has the version of `ifMatch` */
    update: (
      id: string,
      patch: WorkItemPatch,
      { ifMatch, ...options }: CallOptions & { readonly ifMatch?: string } = {},
    ) => {
      const params = { ...path(id), ...(ifMatch !== undefined && { header: { "If-Match": ifMatch } }) };
      return dataOf(http.PATCH("/v1/work_items/{id}", { params, body: { work_item: patch }, ...options }));
    },
    delete: async (id: string, options: CallOptions = {}): Promise<void> => {
      await accepted(http.DELETE("/v1/work_items/{id}", { params: path(id), ...options }));
    },
    list: (filters: QueryOf<"listWorkItems"> = {}, options: CallOptions = {}) =>
      entriesOf((cursor) =>
        bodyOf(http.GET("/v1/work_items", { params: { query: { ...filters, ...cursor } }, ...options })),
      ),
    /** Creates, updates or restores any number of items, and yields their results in order. */
    apply: (
      items: Iterable<WorkItemInput> | AsyncIterable<WorkItemInput>,
      { concurrency = CONCURRENCY, ...options }: ApplyOptions = {},
    ) => applyInBatches(items, (batch) => applyBatch(batch, options), concurrency),
    /** Creates the event, or updates the one with its external_id. */
    upsertEvent: (id: string, event: WorkItemEventInput, options: CallOptions = {}) =>
      dataOf(http.POST("/v1/work_items/{id}/events", { params: path(id), body: { event }, ...options })),
    events: (id: string, options: CallOptions = {}) =>
      entriesOf((query) =>
        bodyOf(http.GET("/v1/work_items/{id}/events", { params: { ...path(id), query }, ...options })),
      ),
  };

  const uploads = {
    /** Uploads a file: a small one in the request itself, a large one by a presigned form. */
    upload,
    get: (id: string, options: CallOptions = {}): Promise<UploadJob> =>
      dataOf(http.GET("/v1/work_items/upload/{id}", { params: path(id), ...options })),
    /** Polls until a job has ended. */
    wait: waitFor,
    list: (filters: QueryOf<"listWorkItemUploads"> = {}, options: CallOptions = {}) =>
      entriesOf((cursor) =>
        bodyOf(http.GET("/v1/work_items/upload", { params: { query: { ...filters, ...cursor } }, ...options })),
      ),
    cancel: cancelUpload,
    failedRows,
  };

  const conversationUploads = {
    get: (id: string, options: CallOptions = {}) =>
      dataOf(http.GET("/v1/conversation_uploads/{id}", { params: path(id), ...options })),
    list: (filters: QueryOf<"listConversationUploads"> = {}, options: CallOptions = {}) =>
      entriesOf((cursor) =>
        bodyOf(http.GET("/v1/conversation_uploads", { params: { query: { ...filters, ...cursor } }, ...options })),
      ),
  };

  /** Keeps a copy of all work items: loads it first, resumes after a saved mark, and starts over where it has to. */
  const copy = (options: CopyOptions & Pick<ChangesOptions, "withEvents">): Promise<void> =>
    copyChanges(changesReader(options), options);

  /** `http`: every endpoint as it is, with the types of the document. */
  return { http, workItems, changes, copy, uploads, conversationUploads };
}
export type Client = ReturnType<typeof createClient>;
