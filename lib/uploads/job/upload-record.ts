import { crc32 } from "node:zlib";
import * as z from "zod";
import { isoTime } from "../../clock.ts";
import { storedTimestamp } from "../../scalars.ts";
import { type UploadJobResponse, uploadStatusSchema } from "./upload-job.ts";

/** Which job a record, an object or a message belongs to. */
export interface JobKey {
  readonly organization: string;
  readonly id: string;
}

/** A job's file is cut into at most this many parts. */
export const PARTS_MAX = 64;

/** Parts of one job that are under way at once; each that ends sends the next but three. */
export const PARTS_IN_FLIGHT = 4;

/** A worker that has not saved anything for this long has lost its claim. */
export const LEASE_MS = 30_000;
/** A worker stops this long before its lease ends: more than clocks of two workers differ. */
export const LEASE_MARGIN_MS = 5_000;
/** Claims in a row, each of a worker that was killed or handed over, after which what does not move fails its job. */
export const STALLED_CLAIMS_MAX = 6;

/** Who works on a record. */
const leaseShape = {
  /** Random, of one claim. */
  owner: z.string().optional(),
  /** One more with every claim. */
  epoch: z.int().default(0),
  /** Milliseconds since the epoch; 0 where nobody works. */
  lease_until: z.number().default(0),
  /** Claims since the record last moved. */
  stalls: z.int().default(0),
  /** Milliseconds since the epoch of the last claim, checkpoint or release. */
  changed_at: z.number().default(0),
};

/**
 * Numbered objects that several claims wrote one after the other: `<epoch>:<count> …`, numbers running through.
 * `1:5 3:2` are the objects 1-0 … 1-4, 3-5, 3-6.
 */
export type ObjectRuns = string;
const objectRuns = z.string().default("");

const parseRuns = (runs: ObjectRuns): { epoch: number; count: number }[] =>
  runs === ""
    ? []
    : runs.split(" ").map((run) => {
        const [epoch, count] = run.split(":").map(Number);
        return { epoch: epoch!, count: count! };
      });

export const countOf = (runs: ObjectRuns): number => parseRuns(runs).reduce((sum, { count }) => sum + count, 0);

/** The epoch that wrote the object with this number. */
export const epochOf = (runs: ObjectRuns, index: number): number => {
  let end = 0;
  for (const { epoch, count } of parseRuns(runs)) {
    end += count;
    if (index < end) return epoch;
  }
  throw new RangeError(`there is no object ${index} in "${runs}"`);
};

export const withNext = (runs: ObjectRuns, epoch: number): ObjectRuns => {
  const parsed = parseRuns(runs);
  const last = parsed.at(-1);
  const next =
    last?.epoch === epoch
      ? [...parsed.slice(0, -1), { epoch, count: last.count + 1 }]
      : [...parsed, { epoch, count: 1 }];
  return next.map(({ epoch: number, count }) => `${number}:${count}`).join(" ");
};

/** How far the splitter is. */
const splitProgressShape = {
  /** Bytes of the file that are in segments. */
  offset: z.int().default(0),
  /** Rows up to there, as `CsvPosition.row`. */
  row: z.int().default(0),
  /** Rows in segments, without header and blank lines. */
  rows: z.int().default(0),
  segments: objectRuns,
  /** Row 1 as it is in the file, byte order mark included; "" until it was read. */
  header: z.string().default(""),
};
const splitProgressSchema = z.object(splitProgressShape);
export type SplitProgress = Readonly<z.output<typeof splitProgressSchema>>;

/** An upload job as it is stored. The lease is the splitter's. */
export const uploadJobRecordSchema = z.object({
  organization: z.string(),
  id: z.string(),
  status: uploadStatusSchema,
  /** `request`: the file came with the call; `form`: it is posted to the bucket. */
  origin: z.enum(["request", "form"]),
  created_at: storedTimestamp,
  updated_at: storedTimestamp,
  /** When the sweep looks at it next; names its record among the open ones. Absent once the job has ended. */
  next_check: storedTimestamp.optional(),
  /** SHA-256 of what the call sent, where it had an `Idempotency-Key`. */
  content_hash: z.string().optional(),
  /** Bytes that the form takes. */
  expected_size: z.int().optional(),
  source_etag: z.string().optional(),
  source_size: z.int().optional(),
  part_count: z.int().optional(),
  /** All rows are in segments and `total_rows` is known: parts may be applied. */
  published: z.boolean().optional(),
  total_rows: z.int(),
  /** What the job will be once no part of it is under way. */
  stopping: z.enum(["failed", "cancelled"]).optional(),
  error: z.string().optional(),
  /** Of an ended job; of any other its parts hold them. */
  succeeded_rows: z.int(),
  failed_rows: z.int(),
  ...leaseShape,
  ...splitProgressShape,
});
export type UploadJob = Readonly<z.output<typeof uploadJobRecordSchema>>;

/** One part's checkpoint and counters. Absent until its first claim. */
export const uploadPartRecordSchema = z.object({
  number: z.int(),
  /** Absent on a part that was stopped before anyone claimed it. */
  state: z.enum(["open", "done", "stopped"]).optional(),
  /** The part goes no further than its next checkpoint. */
  stop: z.boolean().optional(),
  /** Number of the segment and place in its block up to which rows are counted. */
  segment: z.int().default(0),
  offset: z.int().default(0),
  succeeded: z.int().default(0),
  failed: z.int().default(0),
  /** Objects of failed rows. */
  failures: objectRuns,
  ...leaseShape,
});
export type UploadPart = Readonly<z.output<typeof uploadPartRecordSchema>>;
export type Counters = Pick<UploadPart, "succeeded" | "failed">;
type Lease = Pick<UploadPart, keyof typeof leaseShape>;

export interface UploadSnapshot {
  readonly job: UploadJob;
  /** By number; those that were never claimed are missing. */
  readonly parts: readonly UploadPart[];
}

export const isEnded = ({ status }: Pick<UploadJob, "status">): boolean =>
  status === "completed" || status === "failed" || status === "cancelled";

/** Somebody works on it now. */
export const isHeld = ({ lease_until: until }: Pick<Lease, "lease_until">, now: number): boolean => until >= now;

export const sumOf = (parts: readonly UploadPart[]): Counters => ({
  succeeded: parts.reduce((sum, part) => sum + part.succeeded, 0),
  failed: parts.reduce((sum, part) => sum + part.failed, 0),
});

/** A part that nobody has claimed. */
export const untouchedPart = (number: number): UploadPart => uploadPartRecordSchema.parse({ number });

/** Rows of the same external_id always fall into the same part, so that they stay in file order. */
export const partOf = (externalId: string, parts: number): number => crc32(externalId) % parts;

export const toUploadJobResponse = ({ job, parts }: UploadSnapshot): UploadJobResponse => {
  const { succeeded, failed } = isEnded(job)
    ? { succeeded: job.succeeded_rows, failed: job.failed_rows }
    : sumOf(parts);
  const changed = isEnded(job) ? [] : [job.changed_at, ...parts.map((part) => part.changed_at)];
  const updated = isoTime(Math.max(Date.parse(job.updated_at), ...changed));
  return {
    id: job.id,
    status: job.status,
    total_rows: job.total_rows,
    succeeded_rows: succeeded,
    failed_rows: failed,
    ...(isEnded(job) && job.error !== undefined && { error: job.error }),
    created_at: job.created_at,
    updated_at: updated,
  };
};
