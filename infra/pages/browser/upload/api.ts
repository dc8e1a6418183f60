import { accepted, ApiError } from "work-items-client/api-error.ts";
import { createClient, type Mapping as SentMapping, type UploadJob } from "work-items-client/client.ts";
import { fetchWithRetries, retryAfterMs } from "work-items-client/retries.ts";
import { parseJson } from "../../../../lib/json.ts";
import { inPageWords } from "./field-names.ts";
import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";

export type { Page as ListPage } from "work-items-client/pages.ts";
import type { WorkItem as Item } from "work-items-client/client.ts";
export type { Item };
export type { WorkItemEvent as ItemEvent } from "work-items-client/client.ts";

/** Where an organization is notified. */
export type Webhook = Awaited<ReturnType<ReturnType<typeof createClient>["webhooks"]["list"]>>[number];

/** An upload job. Its mapping is shown in full, also where it came from an earlier job. */
export interface Job extends Omit<UploadJob, "mapping"> {
  readonly mapping?: Mapping | undefined;
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

function sentenceOf(status: number, error: string): string {
  if (status === 401)
    return "This key isn’t valid or has been revoked. Try another key. Imports already running will continue.";
  if (status === 403) return `This key isn’t allowed to do that: ${error}`;
  if (status === 429) return "Too many requests. Wait a moment and try again.";
  if (status >= 500) return "The service is busy. Try again in a moment. Imports already running will continue.";
  return inPageWords(error);
}

const NO_CONNECTION =
  "The service can’t be reached. Check your connection and try again. Imports already running will continue.";
/** Attempts after the first: somebody is waiting. */
const RETRIES = 2;
const POLL_MS = 1000;

/** Lists of a job's rows. */
const LISTS = { results: "results", failed_rows: "failed rows" } as const;
type ListName = keyof typeof LISTS;
/** So much of a job's results is read: some 300,000 rows. */
export const RESULTS_MAX_BYTES = 24 * 1024 * 1024;

/** A file that is uploaded. */
interface UploadedTable {
  readonly name: string;
  readonly content: Blob;
  readonly mapping: Mapping;
  readonly dryRun: boolean;
  /** The same key again gives the same job. */
  readonly idempotencyKey: string;
}

/** The error with a sentence for people, of one that a call ended with. */
function toCallError(error: unknown): unknown {
  if (error instanceof ApiError) return new CallError(sentenceOf(error.status, error.message), error.status);
  // fetch throws a TypeError where no response came.
  return error instanceof TypeError ? new CallError(NO_CONNECTION, 0) : error;
}

/** Posts a file to the bucket. Only XMLHttpRequest tells how much was sent. */
function post(url: string, form: FormData, onProgress: (sent: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total));
    request.addEventListener("load", () =>
      request.status < 300
        ? resolve()
        : reject(new CallError(`The file was rejected (${request.status}). Try again.`, request.status)),
    );
    request.addEventListener("error", () => reject(new CallError(NO_CONNECTION, 0)));
    request.open("POST", url);
    request.send(form);
  });
}

/**
 * Makes the caller of the service. The key is kept nowhere else.
 * @param root address of the service, with a slash at its end
 */
export function createApi(root: URL, key: string) {
  const { http, uploads, webhooks, workItems } = createClient({ baseUrl: root.href, apiKey: key, retries: RETRIES });
  const send = fetchWithRetries({ retries: RETRIES });

  /** The text of a response. @throws ApiError */
  const read = async (path: string): Promise<string> => {
    const response = await send(new Request(new URL(path, root), { headers: { authorization: `Bearer ${key}` } }));
    if (response.ok) return response.text();
    const body = (await response.json().catch(() => ({}))) as { readonly error?: string };
    throw new ApiError(response.status, body, response.headers.get("x-request-id"));
  };
  const told = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (error) {
      throw toCallError(error);
    }
  };

  /** Parses JSON as the response has it: browsers that can't keep the digits of long numbers round them. */
  const get = async <T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> => {
    const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ""));
    const text = await told(read(`${path}?${parameters.toString()}`));
    return ("rawJSON" in (JSON as object) ? parseJson(text) : JSON.parse(text)) as T;
  };
  const listUrl = async (id: string, name: ListName): Promise<string | null> => {
    const path = `v1/work_items/upload/${encodeURIComponent(id)}/${name}`;
    return (await get<{ readonly data: { readonly url: string | null } }>(path)).data.url;
  };

  return {
    /**
     * A name for what this browser keeps of the key's organization: 32 bits of a digest tell a few keys apart, and find none of
     * them. The service doesn't say what organization a key belongs to.
     */
    name: async (): Promise<string> => {
      const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
      return new DataView(digest).getUint32(0).toString(16).padStart(8, "0");
    },
    get,
    /** The address of a list of a job's rows; null if it has none. */
    listUrl,
    /** A list of a job's rows, as CSV; undefined if it has none. */
    readList: async (id: string, name: ListName) => {
      const url = await listUrl(id, name);
      if (url === null) return undefined;
      const { ok, body } = await fetch(url);
      if (!ok || body === null) throw new Error(`The ${LISTS[name]} can’t be loaded. Open this job again.`);
      return { url, content: body };
    },
    /** Items by their IDs, without those that were deleted since. */
    getItems: async (ids: readonly string[]): Promise<Item[]> => {
      const found = await told(Array.fromAsync(workItems.getMany({ ids })));
      return found.flatMap(({ data }) => data ?? []);
    },
    getJob: async (id: string): Promise<{ readonly job: Job; readonly retryAfterSeconds: number }> => {
      const call = accepted(http.GET("/v1/work_items/upload/{id}", { params: { path: { id } } }));
      const { body, headers } = await told(call);
      return { job: body.data, retryAfterSeconds: (retryAfterMs(headers) ?? POLL_MS) / 1000 };
    },
    /** Asks for the undo of an import, or for a trial of it. @returns its job */
    undo: (id: string, dryRun: boolean): Promise<Job> => told(uploads.undo(id, { dryRun })),
    webhooks: {
      list: (): Promise<readonly Webhook[]> => told(webhooks.list()),
      create: (url: string, types: Webhook["types"]) => told(webhooks.create({ url, types })),
      test: (id: string) => told(webhooks.test(id)),
      enable: async (id: string, enabled: boolean): Promise<void> =>
        void (await told(webhooks.update(id, { enabled }))),
    },
    cancel: async (id: string): Promise<void> => void (await told(uploads.cancel(id))),
    /** @param onProgress called with the part of a large file that was sent, 0 to 1 */
    upload: async (file: UploadedTable, onProgress: (sent: number) => void): Promise<Job> => {
      const { name, content, mapping, dryRun, idempotencyKey } = file;
      const call = uploads.upload(new Blob([content], { type: "text/csv" }), {
        filename: name,
        mapping: mapping as SentMapping,
        dryRun,
        idempotencyKey,
        postForm: (url, form) => post(url, form, onProgress),
      });
      return (await told(call)).job;
    },
  };
}
/** Sends requests with a key. */
export type Api = ReturnType<typeof createApi>;
