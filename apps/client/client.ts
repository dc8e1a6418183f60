import createFetchClient from "openapi-fetch";
import { dataOf, bodyOf } from "./api-error.ts";
import type { paths } from "./openapi-types.ts";
import { changeCalls } from "./changes.ts";
import { type CallOptions, entriesOf, type Http, path, type QueryOf } from "./http.ts";
import { fetchWithRetries, type RetryOptions } from "./retries.ts";
import { uploadCalls } from "./upload-calls.ts";
import { webhookCalls } from "./webhook-calls.ts";
import { workItemCalls } from "./work-item-calls.ts";

export { ApiError, OutageError, OutcomeUnknownError } from "./api-error.ts";
export type { Change, ChangesOptions, CopyOptions, FeedOptions } from "./changes.ts";
export type { FailedRow, ResultRow } from "./csv.ts";
export type { CallOptions } from "./http.ts";
export type { Names } from "./named-item-calls.ts";
export { inputOf } from "./schemas.ts";
export type * from "./schemas.ts";
export type { Upload, UploadFile, UploadOptions, WaitOptions } from "./upload-calls.ts";
export type { WebhookInput, WebhookPatch } from "./webhook-calls.ts";
export type { ApplyOptions } from "./work-item-calls.ts";

/** The service's address and the API key. */
export interface ClientOptions extends RetryOptions {
  /** For example `https://us.api.example.com`. A path, such as a stage's, is kept. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

function conversationUploadCalls(http: Http) {
  return {
    get: (id: string, options: CallOptions = {}) =>
      dataOf(http.GET("/v1/conversation_uploads/{id}", { params: path(id), ...options })),
    list: (filters: QueryOf<"listConversationUploads"> = {}, options: CallOptions = {}) =>
      entriesOf((cursor) =>
        bodyOf(http.GET("/v1/conversation_uploads", { params: { query: { ...filters, ...cursor } }, ...options })),
      ),
  };
}

/**
 * Creates a client. It retries requests without a response, or with a 429 or 503, for `retrySeconds`.
 * @throws TypeError if the address or the key is missing, such as an environment variable that isn't set
 */
export function createClient({ baseUrl, apiKey, ...retryOptions }: ClientOptions) {
  for (const [name, value] of Object.entries({ baseUrl, apiKey })) {
    if (!value) throw new TypeError(`${name} is missing`);
  }
  const http = createFetchClient<paths>({
    baseUrl: baseUrl.replace(/\/+$/, ""),
    headers: { authorization: `Bearer ${apiKey}`, accept: "application/json, application/problem+json" },
    fetch: fetchWithRetries(retryOptions),
  });
  return {
    /** Every endpoint, with the types of the OpenAPI document. */
    http,
    /** The organization of the key, and what the key may do. */
    me: (options: CallOptions = {}) => dataOf(http.GET("/v1/me", { ...options })),
    workItems: workItemCalls(http),
    ...changeCalls(http),
    uploads: uploadCalls(http, retryOptions),
    conversationUploads: conversationUploadCalls(http),
    webhooks: webhookCalls(http),
  };
}
export type Client = ReturnType<typeof createClient>;
