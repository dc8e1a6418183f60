import { accepted, ApiError, bodyOf, dataOf } from "./api-error.ts";
import { failedRowsIn } from "./csv.ts";
import { type CallOptions, type Http, path, type QueryOf } from "./http.ts";
import { entriesOf } from "./pages.ts";
import { retryAfterMs, type RetryOptions, waitByTimer } from "./retries.ts";
import type { UploadJob } from "./schemas.ts";
import {
  formOf,
  hasEnded,
  isSmall,
  nameOf,
  presignedFormOf,
  toBlob,
  type UndoOptions,
  type Upload,
  type UploadFile,
  type UploadOptions,
  type WaitOptions,
} from "./uploads.ts";

/** Milliseconds between polls if the response has no `Retry-After`. */
const POLL_MS = 1000;

/** Calls on uploads. Files are sent to the bucket once. */
export function uploadCalls(
  http: Http,
  { fetch: sendFile = globalThis.fetch, wait = waitByTimer }: Pick<RetryOptions, "fetch" | "wait">,
) {
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

  const undoUpload = (id: string, { dryRun, ...options }: UndoOptions = {}): Promise<UploadJob> => {
    const body = { undo: dryRun === undefined ? {} : { dry_run: dryRun } };
    return dataOf(http.POST("/v1/work_items/upload/{id}/undo", { params: path(id), body, ...options }));
  };

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

  return {
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
    /** Asks for the undo of an upload. @returns the undo's job, to be awaited like that of an upload */
    undo: undoUpload,
    failedRows,
  };
}
