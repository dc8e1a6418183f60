import { hash } from "node:crypto";

/** What an id can name. The kind is hashed with the parts, so an event and a work item never share an id. */
export type IdentityKind = "work item" | "work item event" | "conversation upload" | "upload job";

/**
 * The id of a thing is a pure function of what identifies it: UUIDv8 (RFC 9562 §5.8) of SHA-256 over the kind and the
 * length-prefixed parts. The same parts always name the same id, so no lookup row or index maps one to the other.
 */
export const deriveId = (kind: IdentityKind, ...parts: string[]): string => {
  const named = [kind, ...parts].map((part) => `${Buffer.byteLength(part)}:${part}`).join("");
  const hex = hash("sha256", named, "hex");
  const variant = "89ab"[Number.parseInt(hex[16]!, 16) & 3];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

export const workItemId = (organization: string, externalId: string): string =>
  deriveId("work item", organization, externalId);

export const workItemEventId = (itemId: string, eventExternalId: string): string =>
  deriveId("work item event", itemId, eventExternalId);

export const conversationUploadId = (organization: string, externalId: string): string =>
  deriveId("conversation upload", organization, externalId);

/** The job id of an upload sent with an `Idempotency-Key`: the same key always names the same job. */
export const idempotentUploadJobId = (organization: string, idempotencyKey: string): string =>
  deriveId("upload job", organization, idempotencyKey);
