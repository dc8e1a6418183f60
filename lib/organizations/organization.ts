import { randomBytes } from "node:crypto";
import * as z from "zod";

/** Requests a second, unless another limit was set. */
export const RATE_DEFAULT = 100;
/** Requests at once, unless another limit was set. */
export const BURST_DEFAULT = 200;
/** Above this rate, rounding the interval between two requests to whole microseconds is too inexact. */
export const RATE_MAX = 100_000;
export const BURST_MAX = 1_000_000;
/**
 * Shards of a new organization's lists. A page reads each of them, and an index partition takes 1,000 writes a second
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html): more shards make
 * lists more expensive and imports faster.
 */
export const LISTING_SHARDS_DEFAULT = 2;
/** The most shards of an organization's lists. */
export const LISTING_SHARDS_MAX = 64;

/** A century. */
export const RETENTION_DAYS_MAX = 36_500;

/** An organization's id. Partition keys contain it, so it must not contain their separator `#`. */
export const organizationIdSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "must be 1 to 64 lowercase letters, digits and hyphens, without a hyphen first");

/** The record of an organization in the Access table. */
export const organizationRecordSchema = z.object({
  organization: organizationIdSchema,
  rate: z.int().min(1).max(RATE_MAX),
  burst: z.int().min(1).max(BURST_MAX),
  listing_shards: z.int().min(1).max(LISTING_SHARDS_MAX),
  /** Absent unless the number of shards has grown. */
  listing_write_shards: z.int().min(1).optional(),
  cursor_secret: z.string().min(1),
  /** Days after which work items are erased, from completion, or from creation if open. Absent or 0: never. */
  retention_days: z.int().min(0).max(RETENTION_DAYS_MAX).optional(),
  /**
   * The first number of its change log: microseconds since 1970, so that an organization that is created again with the
   * same id continues above all earlier numbers.
   */
  changes_from: z.int().min(1),
  /** ISO 8601. When the erasure of its data started: its keys are rejected, and nothing is written for it. */
  erasing_since: z.string().optional(),
  /** ISO 8601. Until when upload forms may still be valid during an erasure. */
  files_until: z.string().optional(),
  /** How many records of each kind have been erased so far, interrupted erasures included. */
  erased: z.record(z.string(), z.int()).optional(),
});
export type OrganizationRecord = z.output<typeof organizationRecordSchema>;

/** Converts a record to an organization. */
export function toOrganization(record: OrganizationRecord) {
  return {
    /** 1 to 64 lower-case letters, digits and dashes. */
    id: record.organization,
    /** Requests a second. @default 100 */
    rate: record.rate,
    /** Requests at once. @default 200 */
    burst: record.burst,
    /** Shards that a list reads. The number only grows. @default 2 */
    listingShards: record.listing_shards,
    /** Shards that new entries are put in: at most `listingShards`, and fewer while it grows. */
    listingWriteShards: record.listing_write_shards ?? record.listing_shards,
    /** Key of the HMAC over this organization's cursors. */
    cursorSecret: record.cursor_secret,
    /** The first number of its change log. */
    changesFrom: record.changes_from,
  };
}
/** An organization that calls the API. */
export type Organization = Readonly<ReturnType<typeof toOrganization>>;

/** A new key for signing cursors: 32 random bytes in base64url. */
export function generateCursorSecret(): string {
  return randomBytes(32).toString("base64url");
}
