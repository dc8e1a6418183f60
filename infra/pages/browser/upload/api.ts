import { parseJson } from "../../../../lib/json.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";

/** An upload job, as far as the page shows it. */
export interface Job {
  readonly id: string;
  readonly status: "pending" | "processing" | "completed" | "failed" | "cancelled";
  readonly file_name?: string;
  readonly size?: number;
  readonly dry_run: boolean;
  readonly total_rows: number;
  readonly succeeded_rows: number;
  readonly failed_rows: number;
  readonly created_rows: number;
  readonly updated_rows: number;
  readonly unchanged_rows: number;
  readonly restored_rows: number;
  readonly error?: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly mapping?: Mapping;
}

interface Person {
  readonly name: string | null;
  readonly email: string | null;
  readonly external_id: string | null;
}

/** An event of a work item. */
export interface ItemEvent {
  readonly id: string;
  readonly external_id: string;
  readonly actor: Person;
  readonly content: string | null;
  readonly occurred_at: string | null;
  readonly created_at: string;
}

/** A work item. */
export interface Item {
  readonly id: string;
  readonly external_id: string;
  readonly agent: Person;
  readonly type: string;
  readonly status: string;
  readonly completed_at: string | null;
  readonly custom_attributes: Readonly<Record<string, unknown>>;
  readonly qa_score: number | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A page of a list. */
export interface ListPage<T> {
  readonly data: readonly T[];
  readonly meta: { readonly page: { readonly next?: string } };
}

/** A request that failed, with a sentence for people. */
export class CallError extends Error {
  override readonly name: string = "CallError";
  /** 0 if there was no response. */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

const sentenceOf = (status: number, error: string): string => {
  if (status === 401) return "This key is not valid, or not any more. Paste another one; a job that has begun goes on.";
  if (status === 403) return `This key may not do that: ${error}`;
  if (status === 429) return "That was too much at once. Wait a moment and try again.";
  if (status >= 500) return "The service is busy. Try again in a moment; a job that has begun goes on.";
  return error;
};

const NO_CONNECTION =
  "The service cannot be reached. Check the connection and try again; a job that has begun goes on.";
/** A larger file is posted to the bucket. A request holds 4 MiB with its mapping. */
const REQUEST_MAX_BYTES = 3.5 * 1024 * 1024;

/** Sends requests with a key, which is kept nowhere else. */
export interface Api {
  readonly get: <T>(path: string, query?: Readonly<Record<string, string>>) => Promise<T>;
  readonly getJob: (id: string) => Promise<{ readonly job: Job; readonly retryAfterSeconds: number }>;
  readonly cancel: (id: string) => Promise<void>;
  /** @param onProgress called with the part of a large file that was sent, 0 to 1 */
  readonly upload: (file: UploadedTable, onProgress: (sent: number) => void) => Promise<Job>;
}

/** A file that is uploaded. */
interface UploadedTable {
  readonly name: string;
  readonly content: Blob;
  readonly mapping: Mapping;
  readonly dryRun: boolean;
  /** The same key again gives the same job. */
  readonly idempotencyKey: string;
}

interface PostForm {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** Posts a file to the bucket. Only XMLHttpRequest tells how much was sent. */
const post = ({ url, fields }: PostForm, content: Blob, onProgress: (sent: number) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append("file", content);
    const request = new XMLHttpRequest();
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total));
    request.addEventListener("load", () =>
      request.status < 300
        ? resolve()
        : reject(new CallError(`The file was refused (${request.status}). Try again.`, request.status)),
    );
    request.addEventListener("error", () => reject(new CallError(NO_CONNECTION, 0)));
    request.open("POST", url);
    request.send(form);
  });

/** Makes the caller of the service. @param root address of the service, with a slash at its end */
export const createApi = (root: URL, key: string): Api => {
  const request = async (
    method: string,
    path: string,
    body?: BodyInit,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Response> => {
    const headers: Record<string, string> = { authorization: `Bearer ${key}`, ...more };
    if (typeof body === "string") headers["content-type"] = "application/json";
    const response = await fetch(new URL(path, root), { method, headers, ...(body !== undefined && { body }) }).catch(
      () => {
        throw new CallError(NO_CONNECTION, 0);
      },
    );
    if (response.ok) return response;
    const { error = "" } = (await response.json().catch(() => ({}))) as { readonly error?: string };
    throw new CallError(sentenceOf(response.status, error), response.status);
  };
  const uploads = "v1/work_items/upload";
  return {
    get: async <T>(path: string, query: Readonly<Record<string, string>> = {}) => {
      const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ""));
      const text = await (await request("GET", `${path}?${parameters.toString()}`)).text();
      // Browsers that cannot keep the digits of long numbers round them.
      return ("rawJSON" in (JSON as object) ? parseJson(text) : JSON.parse(text)) as T;
    },
    getJob: async (id) => {
      const response = await request("GET", `${uploads}/${encodeURIComponent(id)}`);
      const { data } = (await response.json()) as { readonly data: Job };
      return { job: data, retryAfterSeconds: Number(response.headers.get("retry-after") ?? 1) };
    },
    cancel: async (id) => void (await request("DELETE", `${uploads}/${encodeURIComponent(id)}`)),
    upload: async ({ name, content, mapping, dryRun, idempotencyKey }, onProgress) => {
      const once = { "idempotency-key": idempotencyKey };
      if (content.size <= REQUEST_MAX_BYTES) {
        const form = new FormData();
        form.append("upload[mapping]", JSON.stringify(mapping));
        form.append("upload[dry_run]", String(dryRun));
        form.append("upload[file]", new Blob([content], { type: "text/csv" }), name);
        return ((await (await request("POST", uploads, form, once)).json()) as { readonly data: Job }).data;
      }
      const asked = { upload: { filename: name, size: content.size, mapping, dry_run: dryRun } };
      const response = await request("POST", uploads, JSON.stringify(asked), once);
      const { data, meta } = (await response.json()) as {
        readonly data: Job;
        readonly meta?: { readonly upload: PostForm };
      };
      if (meta && data.status === "pending") await post(meta.upload, content, onProgress);
      return data;
    },
  };
};
