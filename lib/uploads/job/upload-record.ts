import { crc32 } from "node:zlib";
import * as z from "zod";
import { isoTime } from "../../clock.ts";
import { storedTimestamp } from "../../schema.ts";
import type { Mapping } from "../mapping/mapping.ts";
import { type SingleUploadJobResponse, type UploadJobResponse, uploadStatusSchema } from "./upload-job.ts";

/** Identifies an upload job. */
export interface JobKey {
  readonly organization: string;
  readonly id: string;
}

/** The most parts of a job. */
export const PARTS_MAX = 64;

/** Parts of a job that are applied at the same time. A part that is done sends the one whose number is 8 higher. */
export const PARTS_IN_FLIGHT = 8;

/** A worker that has saved no checkpoint for this long loses its claim. */
export const LEASE_MS = 30_000;
/** A worker stops this long before its lease ends: longer than the clocks of two workers differ. */
export const LEASE_MARGIN_MS = 5_000;
/** Consecutive claims without progress after which the job fails. */
const STALLED_CLAIMS_MAX = 6;
/** A store that is throttled or cannot be used isn't a stall, but a job doesn't wait for it forever. */
const BUSY_MAX_MS = 24 * 60 * 60 * 1000;

/** Whether a checkpoint does not move, so that its job must fail. @param now milliseconds since the epoch */
export function isStuck({ stalls, busy_since: since }: Pick<Lease, "stalls" | "busy_since">, now: number): boolean {
  return stalls > STALLED_CLAIMS_MAX || (since > 0 && now - since > BUSY_MAX_MS);
}

/** Whether one more claim without progress would be one too many. */
export function isLastClaim({ stalls }: Pick<Lease, "stalls">): boolean {
  return stalls >= STALLED_CLAIMS_MAX;
}

/** Which worker has claimed a record. */
const leaseShape = {
  /** Random id of the last claim. */
  owner: z.string().optional(),
  /** Number of claims so far. */
  epoch: z.int().default(0),
  /** End of the lease in milliseconds since the epoch; 0 after a release. */
  lease_until: z.number().default(0),
  /** Claims since the last progress. */
  stalls: z.int().default(0),
  /** Milliseconds since the epoch when a busy store first kept the checkpoint from moving; 0 if it moved since. */
  busy_since: z.number().default(0),
  /** Milliseconds since the epoch of the last claim, checkpoint or release. */
  changed_at: z.number().default(0),
};

/**
 * Consecutively numbered objects that several claims wrote: `<epoch>:<count> …`. For example, `1:5 3:2` are the objects
 * 1-0 … 1-4, 3-5, 3-6.
 */
export type ObjectRuns = string;
const objectRuns = z.string().default("");

function parseRuns(runs: ObjectRuns): { epoch: number; count: number }[] {
  return runs === ""
    ? []
    : runs.split(" ").map((run) => {
        const [epoch, count] = run.split(":").map(Number);
        return { epoch: epoch!, count: count! };
      });
}

/** Number of objects. */
export function countOf(runs: ObjectRuns): number {
  return parseRuns(runs).reduce((sum, { count }) => sum + count, 0);
}

/** Epoch of the claim that wrote the object with this number. */
export function epochOf(runs: ObjectRuns, index: number): number {
  let end = 0;
  for (const { epoch, count } of parseRuns(runs)) {
    end += count;
    if (index < end) return epoch;
  }
  throw new RangeError(`there is no object ${index} in "${runs}"`);
}

/** The runs with one more object, which was written in this epoch. */
export function withNext(runs: ObjectRuns, epoch: number): ObjectRuns {
  const parsed = parseRuns(runs);
  const last = parsed.at(-1);
  const next =
    last?.epoch === epoch
      ? [...parsed.slice(0, -1), { epoch, count: last.count + 1 }]
      : [...parsed, { epoch, count: 1 }];
  return next.map(({ epoch: number, count }) => `${number}:${count}`).join(" ");
}

/** The splitter's checkpoint. */
const splitProgressShape = {
  /** Bytes of the file that are in segments. */
  offset: z.int().default(0),
  /** Row number at that offset, as `CsvPosition.row`. */
  row: z.int().default(0),
  /** Rows in segments, without header and blank lines. */
  rows: z.int().default(0),
  segments: objectRuns,
  /** Row 1 of the file, including its byte order mark; "" until it is read. */
  header: z.string().default(""),
};
const splitProgressSchema = z.object(splitProgressShape);
/** The splitter's checkpoint. */
export type SplitProgress = Readonly<z.output<typeof splitProgressSchema>>;

/** Counters of an ended job; those of an open job are in its parts. */
const rowCountersShape = {
  succeeded_rows: z.int(),
  failed_rows: z.int(),
  created_rows: z.int().default(0),
  updated_rows: z.int().default(0),
  unchanged_rows: z.int().default(0),
  restored_rows: z.int().default(0),
};
const rowCountersSchema = z.object(rowCountersShape);

/** The record of an upload job. Its lease belongs to the splitter. */
export const uploadJobRecordSchema = z.object({
  organization: z.string(),
  id: z.string(),
  status: uploadStatusSchema,
  /** `request`: the file came with the request; `form`: it is posted to the bucket. */
  origin: z.enum(["request", "form"]),
  created_at: storedTimestamp,
  updated_at: storedTimestamp,
  /** When the sweep checks the job next; also in the key of its open record. Absent once the job has ended. */
  next_check: storedTimestamp.optional(),
  /** SHA-256 of the request's content, if it had an `Idempotency-Key`. */
  content_hash: z.string().optional(),
  /** Id of the API key that requested the job. */
  key_id: z.string().optional(),
  key_name: z.string().optional(),
  /** Id of the request that created the job, which log lines about the job repeat. */
  request_id: z.string().optional(),
  file_name: z.string().optional(),
  /** Size in bytes of the file in the request, or of the one that the form accepts. */
  expected_size: z.int().optional(),
  /** True if no item is to be written. */
  dry_run: z.boolean().optional(),
  /** JSON of the mapping. */
  mapping: z.string().optional(),
  source_etag: z.string().optional(),
  source_size: z.int().optional(),
  /** When S3 received the file. */
  source_written_at: storedTimestamp.optional(),
  part_count: z.int().optional(),
  /** True once all rows are in segments and `total_rows` is known: parts may be applied. */
  published: z.boolean().optional(),
  total_rows: z.int(),
  /** Status that the job will have once none of its parts is being applied. */
  stopping: z.enum(["failed", "cancelled"]).optional(),
  error: z.string().optional(),
  ...rowCountersShape,
  ...leaseShape,
  ...splitProgressShape,
});
/** A decoded record of an upload job. */
export type UploadJob = Readonly<z.output<typeof uploadJobRecordSchema>>;

/** What a request says of a job that is created for it. */
export type NewUpload = Pick<
  UploadJob,
  | "id"
  | "origin"
  | "file_name"
  | "expected_size"
  | "dry_run"
  | "mapping"
  | "content_hash"
  | "key_id"
  | "key_name"
  | "request_id"
>;

/** What each log line about a job contains, so that an upload can be followed from its request to its end. */
export function logFieldsOf({ id, organization, request_id: requestId }: UploadJob) {
  return { job: id, organization, request_id: requestId };
}

/** How many rows a part has counted, by outcome. The succeeded are the sum of the four that are not failed. */
const countersShape = {
  succeeded: z.int().default(0),
  failed: z.int().default(0),
  created: z.int().default(0),
  updated: z.int().default(0),
  unchanged: z.int().default(0),
  restored: z.int().default(0),
};

/** The record of a part: its checkpoint and counters. It does not exist before the first claim. */
export const uploadPartRecordSchema = z.object({
  number: z.int(),
  /** Absent if the part was stopped before its first claim. */
  state: z.enum(["open", "done", "stopped"]).optional(),
  /** True if the part must stop at its next checkpoint. */
  stop: z.boolean().optional(),
  /** Number of the segment, and offset in its block, up to which rows are counted. */
  segment: z.int().default(0),
  offset: z.int().default(0),
  ...countersShape,
  /** How many rows the next attempt takes, after one whose time was too short; 0 if as many as the limits allow. */
  rows_at_once: z.int().default(0),
  /** Objects of failed rows. */
  failures: objectRuns,
  /** Objects with the results of all rows. */
  results: objectRuns,
  ...leaseShape,
});
/** A decoded record of a part. */
export type UploadPart = Readonly<z.output<typeof uploadPartRecordSchema>>;
/** Numbers of rows by outcome. */
export type Counters = Pick<UploadPart, keyof typeof countersShape>;
const counterNames = Object.keys(countersShape) as (keyof Counters)[];
type Lease = Pick<UploadPart, keyof typeof leaseShape>;

/** A job and its parts, read together. */
export interface UploadSnapshot {
  readonly job: UploadJob;
  /** In order of their numbers, without parts that were never claimed. */
  readonly parts: readonly UploadPart[];
}

/** Whether a job has ended: it does not change any more. */
export function isEnded({ status }: Pick<UploadJob, "status">): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** Whether a worker holds the lease of a record. @param now milliseconds since the epoch */
export function isHeld({ lease_until: until }: Pick<Lease, "lease_until">, now: number): boolean {
  return until >= now;
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
  };
}

/** A part before its first claim. */
export function unclaimedPart(number: number): UploadPart {
  return uploadPartRecordSchema.parse({ number });
}

/** Number of an external_id's part. Rows with the same external_id are in the same part, so that they stay in order. */
export function partOf(externalId: string, parts: number): number {
  return crc32(externalId) % parts;
}

/** A job in lists. */
export function toUploadJobResponse({ job, parts }: UploadSnapshot): UploadJobResponse {
  const changed = isEnded(job) ? [] : [job.changed_at, ...parts.map((part) => part.changed_at)];
  const updated = isoTime(Math.max(Date.parse(job.updated_at), ...changed));
  const size = job.expected_size ?? job.source_size;
  return {
    id: job.id,
    status: job.status,
    ...(job.file_name !== undefined && { file_name: job.file_name }),
    ...(size !== undefined && { size }),
    ...(job.key_name !== undefined && { key_name: job.key_name }),
    dry_run: job.dry_run ?? false,
    total_rows: job.total_rows,
    ...(isEnded(job) ? rowCountersSchema.parse(job) : toRowCounters(sumOf(parts))),
    ...(isEnded(job) && job.error !== undefined && { error: job.error }),
    created_at: job.created_at,
    updated_at: updated,
  };
}

/** A job by itself in responses. */
export function toSingleUploadJobResponse(snapshot: UploadSnapshot): SingleUploadJobResponse {
  const { mapping } = snapshot.job;
  return {
    ...toUploadJobResponse(snapshot),
    ...(mapping !== undefined && { mapping: JSON.parse(mapping) as Mapping }),
  };
}
