import { hash } from "node:crypto";

/** Kinds of resources with derived ids. The kind is hashed too, so that an event and a work item never share an id. */
export type IdentityKind =
  | "work item"
  | "work item event"
  | "conversation upload"
  | "upload job"
  | "undo of an upload"
  | "trial of an undo"
  | "webhook"
  | "webhook message";

function prefixed(text: string): string {
  return `${Buffer.byteLength(text)}:${text}`;
}

/**
 * Derives the id of a resource from its natural key: a UUIDv8 (RFC 9562 §5.8) of SHA-256 over the kind and the
 * length-prefixed components of the key. The same key always has the same id, so no index is needed to find it.
 */
export function deriveId(kind: IdentityKind, ...components: string[]): string {
  let hashed = prefixed(kind);
  for (const component of components) hashed += prefixed(component);
  const hex = hash("sha256", hashed, "hex");
  const variant = "89ab"[Number.parseInt(hex[16]!, 16) & 3];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Id of the work item with an `external_id`. */
export function workItemId(organization: string, externalId: string): string {
  return deriveId("work item", organization, externalId);
}

/** Id of the event with an `external_id` in a work item. */
export function workItemEventId(itemId: string, eventExternalId: string): string {
  return deriveId("work item event", itemId, eventExternalId);
}

/** Id of the conversation upload with an `external_id`. */
export function conversationUploadId(organization: string, externalId: string): string {
  return deriveId("conversation upload", organization, externalId);
}

/** Id of the upload job that was requested with an `Idempotency-Key`. */
export function idempotentUploadJobId(organization: string, idempotencyKey: string): string {
  return deriveId("upload job", organization, idempotencyKey);
}

/** Id of a job that undoes an upload, or of a trial of it. @param attempt 1 for the first */
export function undoJobId(organization: string, uploadId: string, attempt = 1, isTrial = false): string {
  return deriveId(isTrial ? "trial of an undo" : "undo of an upload", organization, uploadId, String(attempt));
}

/** Id of a message to a webhook's endpoint. @param subject what it is about: a position in the feed or a job */
export function webhookMessageId(webhook: string, type: string, subject: string): string {
  return deriveId("webhook message", webhook, type, subject);
}

/** Id of the webhook that was created with an `Idempotency-Key`. */
export function idempotentWebhookId(organization: string, idempotencyKey: string): string {
  return deriveId("webhook", organization, idempotencyKey);
}
