import { randomBytes } from "node:crypto";
import * as z from "zod";

/** Requests a second and at once, where nothing else was set. */
export const RATE_DEFAULT = 100;
export const BURST_DEFAULT = 200;
/** Above this an interval between two requests is too few microseconds to be kept as a whole number. */
export const RATE_MAX = 100_000;
export const BURST_MAX = 1_000_000;
export const LISTING_SHARDS_DEFAULT = 8;

/** Part of every partition key, so no separator of those may be in it. */
export const organizationIdSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "must be 1 to 64 lower-case letters, digits and dashes, no dash first");

/** An organization as its API key finds it. */
export interface Organization {
  /** Lower-case letters, digits and dashes, 1 to 64 of them. Part of every partition key. */
  readonly id: string;
  /** Requests a second. @default 100 */
  readonly rate: number;
  /** Requests at once. @default 200 */
  readonly burst: number;
  /** Shards of the listing index; only ever grows. Reads cover all, writers use the current number. @default 8 */
  readonly listingShards: number;
  /** Key of the HMAC over this organization's cursors. */
  readonly cursorSecret: string;
}

/** An organization as the Access table keeps it. */
export const organizationRecordSchema = z.object({
  organization: organizationIdSchema,
  rate: z.int().min(1).max(RATE_MAX),
  burst: z.int().min(1).max(BURST_MAX),
  listing_shards: z.int().min(1),
  cursor_secret: z.string().min(1),
});
export type OrganizationRecord = z.output<typeof organizationRecordSchema>;

export const toOrganization = (record: OrganizationRecord): Organization => ({
  id: record.organization,
  rate: record.rate,
  burst: record.burst,
  listingShards: record.listing_shards,
  cursorSecret: record.cursor_secret,
});

/** 32 random bytes, base64url. */
export const generateCursorSecret = (): string => randomBytes(32).toString("base64url");
