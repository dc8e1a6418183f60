import { dataOf } from "./api-error.ts";
import type { operations } from "./openapi-types.ts";
import { type CallOptions, type Http, path } from "./http.ts";

type BodyOf<Name extends "createWebhook" | "updateWebhook"> =
  operations[Name]["requestBody"]["content"]["application/json"]["webhook"];

/** Where to send messages, and of which types. */
export type WebhookInput = BodyOf<"createWebhook">;
/** The fields of a webhook to change. */
export type WebhookPatch = BodyOf<"updateWebhook">;

export function webhookCalls(http: Http) {
  return {
    /** Adds a webhook. Only the responses of this and `rotateSecret` show the secret. */
    create: (
      webhook: WebhookInput,
      { idempotencyKey = crypto.randomUUID(), ...options }: CallOptions & { readonly idempotencyKey?: string } = {},
    ) => {
      const params = { header: { "Idempotency-Key": idempotencyKey } };
      return dataOf(http.POST("/v1/webhooks", { params, body: { webhook }, ...options }));
    },
    list: (options: CallOptions = {}) => dataOf(http.GET("/v1/webhooks", { ...options })),
    get: (id: string, options: CallOptions = {}) =>
      dataOf(http.GET("/v1/webhooks/{id}", { params: path(id), ...options })),
    update: (id: string, webhook: WebhookPatch, options: CallOptions = {}) =>
      dataOf(http.PATCH("/v1/webhooks/{id}", { params: path(id), body: { webhook }, ...options })),
    delete: (id: string, options: CallOptions = {}) =>
      dataOf(http.DELETE("/v1/webhooks/{id}", { params: path(id), ...options })),
    /** Creates a new secret. The previous one also signs for 24 hours. */
    rotateSecret: (id: string, options: CallOptions = {}) =>
      dataOf(http.POST("/v1/webhooks/{id}/rotate_secret", { params: path(id), ...options })),
    /** Sends a test message. @returns what the receiver answered */
    test: (id: string, options: CallOptions = {}) =>
      dataOf(http.POST("/v1/webhooks/{id}/test", { params: path(id), ...options })),
    /** Has the receiver called within seconds, as if the webhook were new. `get` shows what it answered. */
    resend: (id: string, options: CallOptions = {}) =>
      dataOf(http.POST("/v1/webhooks/{id}/resend", { params: path(id), ...options })),
  };
}
