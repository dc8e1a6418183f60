import { crc32 } from "node:zlib";
import * as z from "zod";
import { claimShape } from "./claim.ts";

/** The most shards of a job: chunks of so many are applied at the same time. */
const SHARDS_MAX = 8;
/** Claims of a shard without progress after which its job fails. */
export const CHUNK_ATTEMPTS_MAX = 6;

/** Number of shards of a file. @param bytes its size @param shardBytes bytes of the file for each shard of a small file */
export function shardCount(bytes: number, shardBytes: number): number {
  return Math.min(SHARDS_MAX, Math.ceil(bytes / shardBytes));
}

/** Shard of an external_id. Rows with the same external_id are in the same shard, so that they stay in order. */
export function shardOf(externalId: string, shards: number): number {
  return crc32(externalId) % shards;
}

/** How many rows a shard has counted, by outcome. The succeeded are the sum of all that are not failed. */
const countersShape = {
  succeeded: z.int().default(0),
  failed: z.int().default(0),
  created: z.int().default(0),
  updated: z.int().default(0),
  unchanged: z.int().default(0),
  restored: z.int().default(0),
  deleted: z.int().default(0),
  undone: z.int().default(0),
  partly: z.int().default(0),
  kept: z.int().default(0),
};

/**
 * The record of a shard: which rows come next, and the counters so far. It does not exist before the first claim or stop.
 * Every change compares `claim`, so that a worker that has lost its claim changes nothing.
 */
export const uploadShardRecordSchema = z.object({
  number: z.int(),
  /** Number of the next chunk to apply. */
  next: z.int().default(0),
  /** Number of the last row that is counted; 0 if none is. */
  after: z.int().default(0),
  /** How many rows the chunks before that one have. */
  rows_before: z.int().default(0),
  /** Number of claims so far. */
  claim: z.int().default(0),
  /** Random id of the last claim, by which its worker recognizes it. */
  claimed_by: z.string().optional(),
  /** Claims since the last progress, this one included; those that the store refused don't count. */
  attempts: z.int().default(0),
  /** Whether the job is to stop: no one may claim the shard but to close it. */
  stop: z.boolean().optional(),
  /** Whether the shard is stopped, and all rows that its workers applied are counted. */
  closed: z.boolean().optional(),
  /** Whether it was closed although rows may have been applied that aren't counted: they could not be read. */
  uncounted: z.boolean().optional(),
  /** Claims whose results count, as ranges: `1-3 5` are 1, 2, 3 and 5. */
  counted: z.string().default(""),
  ...countersShape,
  ...claimShape,
});
/** A decoded record of a shard. */
export type UploadShard = Readonly<z.output<typeof uploadShardRecordSchema>>;
/** Numbers of rows by outcome. */
export type Counters = Pick<UploadShard, keyof typeof countersShape>;
const counterNames = Object.keys(countersShape) as (keyof Counters)[];

/** The claims in ranges such as `1-3 5`, in order. */
export function claimsIn(ranges: string): number[] {
  return ranges.split(" ").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return first === 0 ? [] : Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

/** The ranges with one more claim, which is greater than all others. */
export function withClaim(ranges: string, claim: number): string {
  const last = /(?:^| )(?<first>\d+)(?:-(?<end>\d+))?$/.exec(ranges)?.groups;
  if (last === undefined) return String(claim);
  const { first = "", end = first } = last;
  if (Number(end) + 1 !== claim) return `${ranges} ${claim}`;
  return `${ranges.slice(0, ranges.lastIndexOf(" ") + 1)}${first}-${claim}`;
}

/** The sums of counters. */
export function sumOf(counters: readonly Counters[]): Counters {
  return Object.fromEntries(
    counterNames.map((name) => [name, counters.reduce((sum, each) => sum + each[name], 0)]),
  ) as Record<keyof Counters, number>;
}

/** Counters as jobs store and show them: `succeeded_rows` and so on. */
export function toRowCounters(counters: Counters) {
  return {
    succeeded_rows: counters.succeeded,
    failed_rows: counters.failed,
    created_rows: counters.created,
    updated_rows: counters.updated,
    unchanged_rows: counters.unchanged,
    restored_rows: counters.restored,
    deleted_rows: counters.deleted,
    undone_rows: counters.undone,
    partly_undone_rows: counters.partly,
    kept_rows: counters.kept,
  };
}
