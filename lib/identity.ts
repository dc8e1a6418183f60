import { createHash } from "node:crypto";

/** What an id can name. The kind is hashed with the parts, so an event and a work item never share an id. */
export type IdentityKind = "work item" | "work item event" | "conversation upload" | "upload job";

/**
 * The id of a thing is a pure function of what identifies it: UUIDv8 (RFC 9562 §5.8) of SHA-256 over the kind and the
 * length-prefixed parts. The same parts always name the same id, so no lookup row or index maps one to the other.
 */
export const deriveId = (kind: IdentityKind, ...parts: string[]): string => {
  const hash = createHash("sha256");
  for (const part of [kind, ...parts]) {
    const bytes = Buffer.from(part, "utf8");
    hash.update(`${bytes.length}:`).update(bytes);
  }
  const bytes = hash.digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
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
