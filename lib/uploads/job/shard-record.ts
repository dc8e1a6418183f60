import { crc32 } from "node:zlib";
import * as z from "zod";
import { claimShape } from "./claim.ts";
import { counterFields } from "./counters.ts";
import { SHARDS_MAX } from "./started-rows.ts";

/** After this many claims of a shard without progress its job fails. */
export const CHUNK_ATTEMPTS_MAX = 6;

/** Number of shards of a file. @param bytes its size @param shardBytes bytes of the file for each shard of a small file */
export function shardCount(bytes: number, shardBytes: number): number {
  return Math.min(SHARDS_MAX, Math.ceil(bytes / shardBytes));
}

/** Shard of an external_id. Rows with the same external_id share a shard, so they stay in order. */
export function shardOf(externalId: string, shards: number): number {
  return crc32(externalId) % shards;
}

/**
 * The record of a shard: which rows come next, and the counters so far. It doesn't exist before the first claim or stop.
 * Every change is on condition of `claim`, so a worker that has lost its claim changes nothing.
 */
export const uploadShardRecordSchema = z.object({
  number: z.int(),
  /** Number of the next chunk to apply. */
  next: z.int().default(0),
  /** Number of the last row that is counted; 0 if none is. */
  after: z.int().default(0),
  /** Number of rows in the chunks before `next`. */
  rows_before: z.int().default(0),
  /** Number of claims so far. */
  claim: z.int().default(0),
  /** Random id of the last claim. Its worker recognizes it after a lost response. */
  claimed_by: z.string().optional(),
  /** Claims since the last progress, including the current one, except those that ended because the store refused. */
  attempts: z.int().default(0),
  /** Whether the job must stop. The shard may only be claimed to close it. */
  stop: z.boolean().optional(),
  /** Whether the shard is stopped, and all rows that its workers applied are counted. */
  closed: z.boolean().optional(),
  /** Whether it was closed although some applied rows may be uncounted, because they couldn't be read. */
  uncounted: z.boolean().optional(),
  /** Claims whose results count, as ranges: `1-3 5` means 1, 2, 3 and 5. */
  counted: z.string().default(""),
  ...counterFields(),
  ...claimShape,
});
/** A decoded record of a shard. */
export type UploadShard = Readonly<z.output<typeof uploadShardRecordSchema>>;

/** The claims in ranges such as `1-3 5`, in order. */
export function claimsIn(ranges: string): number[] {
  return ranges.split(" ").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return first === 0 ? [] : Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

/** Adds a claim, which must be greater than all others, to ranges. */
export function withClaim(ranges: string, claim: number): string {
  const last = /(?:^| )(?<first>\d+)(?:-(?<end>\d+))?$/.exec(ranges)?.groups;
  if (last === undefined) return String(claim);
  const { first = "", end = first } = last;
  if (Number(end) + 1 !== claim) return `${ranges} ${claim}`;
  return `${ranges.slice(0, ranges.lastIndexOf(" ") + 1)}${first}-${claim}`;
}
