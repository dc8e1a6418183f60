import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { ApiError, OutageError, OutcomeUnknownError } from "work-items-client/api-error.ts";
import { createClient, type UploadJob } from "work-items-client/client.ts";
import type { Page } from "work-items-client/http.ts";
import { fetchWithRetries } from "work-items-client/retries.ts";
import type { RowListName } from "@work-items/lib/uploads/files/row-list.ts";
import { parseJson } from "@work-items/lib/json.ts";
import type { Mapping } from "@work-items/lib/uploads/mapping/mapping.ts";
import { inPageWords, inTypographicQuotes } from "./field-names.ts";

export type { WorkItem as Item, WorkItemEvent as ItemEvent } from "work-items-client/client.ts";

/** An upload job. It has its whole mapping, also if that came from an earlier job. */
export interface Job extends Omit<UploadJob, "mapping"> {
  readonly mapping?: Mapping | undefined;
}

/** Values of a query; empty ones are left out. */
export type Query = Readonly<Record<string, string>>;

export const NO_CONNECTION =
  "The service can’t be reached. Check your connection and try again. Imports already running will continue.";
const OUTCOME_UNKNOWN =
  "The connection was lost, so this may have started. Look at your imports before you try again. A trial run saves nothing.";
/** Short, since a person waits. */
const RETRY_SECONDS = 1;

/** An error in a sentence for people. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return "Something went wrong. Try again.";
  if (error instanceof OutcomeUnknownError) return OUTCOME_UNKNOWN;
  if (error instanceof OutageError) return NO_CONNECTION;
  if (!(error instanceof ApiError)) return inTypographicQuotes(error.message);
  const { status, message } = error;
  if (status === 401)
    return "This key isn’t valid or has been revoked. Try another key. Imports already running will continue.";
  if (status === 403) return `This key isn’t allowed to do that: ${inPageWords(message)}. Use another key.`;
  if (status === 429) return "Too many requests. Wait a moment and try again.";
  if (status >= 500) return "The service is busy. Try again in a moment. Imports already running will continue.";
  return inPageWords(message);
}

/** Whether an error is a response with one of some statuses. */
export function hasStatus(error: unknown, ...statuses: readonly number[]): boolean {
  return error instanceof ApiError && statuses.includes(error.status);
}

/** A random idempotency key. Pages without HTTPS have no crypto.randomUUID. */
export function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}

/**
 * Sends requests with a key, which is kept nowhere else.
 * @param root address of the service, with a slash at its end
 */
export function createApi(root: URL, key: string) {
  const retrying = { retrySeconds: RETRY_SECONDS };
  const { me, uploads, workItems } = createClient({ baseUrl: root.href, apiKey: key, ...retrying });
  let known: ReturnType<typeof me> | undefined;
  const send = fetchWithRetries(retrying);

  /** Keeps the digits of long numbers. @throws ApiError for any response but a successful one */
  const get = async <T>(path: string, query: Query = {}): Promise<T> => {
    const url = new URL(path, root);
    for (const [name, value] of Object.entries(query)) if (value !== "") url.searchParams.set(name, value);
    const response = await send(new Request(url, { headers: { authorization: `Bearer ${key}` } }));
    if (response.ok) return parseJson(await response.text()) as T;
    const body = (await response.json().catch(() => ({}))) as { readonly error?: string };
    throw new ApiError(response.status, body, response.headers.get("x-request-id"));
  };
  /** The address of a list of a job's rows; null if it has none. */
  const listUrl = async (id: string, name: RowListName): Promise<string | null> => {
    const path = `v1/work_items/upload/${encodeURIComponent(id)}/${name}`;
    return (await get<{ readonly data: { readonly url: string | null } }>(path)).data.url;
  };

  return {
    /** The organization and the key. Asked once: neither changes while the page is open. */
    me: () =>
      (known ??= me().catch((error: unknown) => {
        known = undefined;
        throw error;
      })),
    uploads,
    workItems,
    get,
    listUrl,
    /**
     * Names what this browser keeps for the key: 32 bits of a digest tell keys apart and don't reveal them. Pages without
     * HTTPS have no crypto.subtle.
     */
    name: bytesToHex(sha256(utf8ToBytes(key))).slice(0, 8),
    /** A page of a list, from a cursor on. */
    list: <T>(path: string, query: Query) => get<Page<T>>(path, query),
    /** The report of a job's failed rows; undefined if it has none. */
    failedRows: async (id: string) => {
      const url = await listUrl(id, "failed_rows");
      if (url === null) return undefined;
      const { ok, body } = await fetch(url).catch((cause: unknown) => {
        throw new Error(NO_CONNECTION, { cause });
      });
      if (!ok || body === null) throw new Error("The failed rows can’t be loaded. Open this page again.");
      return { url, content: body };
    },
  };
}
export type Api = ReturnType<typeof createApi>;
