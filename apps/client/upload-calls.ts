import { retryAfterMs } from "../../lib/retry-after.ts";
import { accepted, ApiError, bodyOf, dataOf, OutageError } from "./api-error.ts";
import { type FailedRow, failedRowsIn, type ResultRow, resultsIn } from "./csv.ts";
import { type CallOptions, entriesOf, type Http, path, type QueryOf } from "./http.ts";
import { type RetryOptions, waitByTimer } from "./retries.ts";
import type { Mapping, UploadJob } from "./schemas.ts";

/** A file: bytes, text, or a stream, which is read into memory. For large files, use `openAsBlob(path)`. */
export type UploadFile = Blob | Uint8Array<ArrayBuffer> | string | AsyncIterable<Uint8Array<ArrayBuffer>>;

/** How a file is uploaded. */
export interface UploadOptions {
  /** @default the name of a `File`, else `upload.csv` */
  readonly filename?: string;
  /** How columns become work items. @default by columns that are named after the fields */
  readonly mapping?: Mapping;
  /** Whether no item is written. @default false */
  readonly dryRun?: boolean;
  /** @default a random key, so that a retry doesn't start a second job */
  readonly idempotencyKey?: string;
  /** Posts the form of a large file. @default fetch; in a browser, XMLHttpRequest can report progress */
  readonly postForm?: (url: string, form: FormData) => Promise<void>;
  readonly signal?: AbortSignal;
}

/** How an upload is undone. */
export interface UndoOptions {
  /** Whether no item is written. A dry run is a new job unless one is running. @default false */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

/** How to wait for the end of a job. */
export interface WaitOptions {
  /** Called with the job after each poll. */
  readonly onProgress?: (job: UploadJob) => void;
  readonly signal?: AbortSignal;
}

/** An upload that was accepted. */
export interface Upload {
  readonly id: string;
  /** The job when it was accepted. */
  readonly job: UploadJob;
  /** Polls, as often as the service asks, until the job has ended. @returns the job */
  wait: (options?: WaitOptions) => Promise<UploadJob>;
  /** The failed rows; none until the job has ended. */
  failedRows: (signal?: AbortSignal) => AsyncGenerator<FailedRow, void, undefined>;
  /** What the job did with each row; none until the job has ended. */
  results: (signal?: AbortSignal) => AsyncGenerator<ResultRow, void, undefined>;
  cancel: (signal?: AbortSignal) => Promise<UploadJob>;
}

/** Limit for files in the request itself. Together with a mapping of 64 KiB and the form, it must stay below 4 MiB. */
const MULTIPART_MAX_BYTES = 4 * 1024 * 1024 - 128 * 1024;

function isStream(file: UploadFile): file is AsyncIterable<Uint8Array<ArrayBuffer>> {
  return typeof file === "object" && Symbol.asyncIterator in file;
}

async function toBlob(file: UploadFile): Promise<Blob> {
  if (file instanceof Blob) return file;
  if (!isStream(file)) return new Blob([file], { type: "text/csv" });
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of file) chunks.push(chunk);
  return new Blob(chunks, { type: "text/csv" });
}

function nameOf(file: Blob, { filename }: UploadOptions): string {
  return filename ?? (file instanceof File && file.name !== "" ? file.name : "upload.csv");
}

function formOf(file: Blob, options: UploadOptions): FormData {
  const form = new FormData();
  if (options.mapping !== undefined) form.set("upload[mapping]", JSON.stringify(options.mapping));
  if (options.dryRun !== undefined) form.set("upload[dry_run]", String(options.dryRun));
  form.set("upload[file]", file, nameOf(file, options));
  return form;
}

/** The presigned form of a large file. The file must be its last field. */
function presignedFormOf(file: Blob, fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("file", file);
  return form;
}

export function hasEnded({ status }: Pick<UploadJob, "status">): boolean {
  return status !== "pending" && status !== "processing";
}

/** Sends a request to the bucket once. @throws OutageError */
async function sentOnce<T>(method: string, url: string, send: () => Promise<T>, idempotencyKey?: string): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new OutageError({ method, url }, { attempts: 1, idempotencyKey, mayBeDone: true }, error);
  }
}

/** Milliseconds between polls if the response has no `Retry-After`. */
const POLL_MS = 1000;

/** Calls on uploads. A file is sent to the bucket only once. */
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
      await wait(retryAfterMs(headers.get("retry-after"), Date.now()) ?? POLL_MS, options.signal);
    }
  };

  const cancelUpload = (id: string, options: CallOptions = {}): Promise<UploadJob> =>
    dataOf(http.DELETE("/v1/work_items/upload/{id}", { params: path(id), ...options }));

  const undoUpload = (id: string, { dryRun, ...options }: UndoOptions = {}): Promise<UploadJob> => {
    const body = { undo: dryRun === undefined ? {} : { dry_run: dryRun } };
    return dataOf(http.POST("/v1/work_items/upload/{id}/undo", { params: path(id), body, ...options }));
  };

  /** The text of a list in pieces, as it arrives: it may have a line for each of a million rows. */
  const piecesOf = async function* (list: "failed_rows" | "results", id: string, options: CallOptions) {
    const { url } = await dataOf(http.GET(`/v1/work_items/upload/{id}/${list}`, { params: path(id), ...options }));
    if (url === null) return;
    const { ok, status, body } = await sentOnce("GET", url, () => sendFile(url, options));
    if (!ok || body === null) throw new ApiError(status, { error: `${list} can't be downloaded: ${status}` }, null);
    // Safari can't iterate over a stream.
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (;;) {
        const { done, value } = await sentOnce("GET", url, () => reader.read());
        if (done) return;
        yield value;
      }
    } finally {
      await reader.cancel();
    }
  };
  const failedRows = (id: string, options: CallOptions = {}) => failedRowsIn(piecesOf("failed_rows", id, options));
  const results = (id: string, options: CallOptions = {}) => resultsIn(piecesOf("results", id, options));

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
        ...(file.size <= MULTIPART_MAX_BYTES && { bodySerializer: () => formOf(file, options) }),
        ...signalled,
      }),
    );
    // A repeated key may belong to a job whose file has already arrived.
    if (meta?.upload !== undefined && job.status === "pending") {
      const { url, fields } = meta.upload;
      const filled = presignedFormOf(file, fields);
      const post = () => options.postForm?.(url, filled) ?? postForm(url, filled, signalled);
      await sentOnce("POST", url, post, idempotencyKey);
    }
    const { id } = job;
    return {
      id,
      job,
      wait: (waitOptions) => waitFor(id, waitOptions),
      failedRows: (later) => failedRows(id, later === undefined ? {} : { signal: later }),
      results: (later) => results(id, later === undefined ? {} : { signal: later }),
      cancel: (later) => cancelUpload(id, later === undefined ? {} : { signal: later }),
    };
  };

  return {
    /** Uploads a file: a small one in the request itself, a large one with a presigned form. */
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
    /** Starts the undo of an upload. @returns its job; wait for it as for an upload */
    undo: undoUpload,
    failedRows,
    results,
  };
}
