import { crc32 } from "node:zlib";
import { isoTime } from "../clock.ts";
import type { JobKey } from "./upload-objects.ts";
import type { UploadJobResponse, UploadStatus } from "./upload-job.ts";

/** A job's file is cut into at most this many parts. */
export const PARTS_MAX = 64;

/** A worker that has not saved anything for this long has lost its claim. */
export const LEASE_MS = 30_000;
/** A worker stops this long before its lease ends: more than clocks of two workers differ. */
export const LEASE_MARGIN_MS = 5_000;
/** Claims in a row, each of a worker that was killed or handed over, after which what does not move fails its job. */
export const STALLED_CLAIMS_MAX = 6;

/** Who works on a record. */
export interface Lease {
  /** Random, of one claim. */
  readonly owner?: string;
  /** One more with every claim. */
  readonly epoch: number;
  /** Milliseconds since the epoch; 0 where nobody works. */
  readonly lease_until: number;
  /** Claims since the record last moved. */
  readonly stalls: number;
  /** Milliseconds since the epoch of the last claim, checkpoint or release. */
  readonly changed_at: number;
}

/**
 * Numbered objects that several claims wrote one after the other: `<epoch>:<count> …`, numbers running through.
 * `1:5 3:2` are the objects 1-0 … 1-4, 3-5, 3-6.
 */
export type ObjectRuns = string;

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
export interface SplitProgress {
  /** Bytes of the file that are in segments. */
  readonly offset: number;
  /** Rows up to there, as `CsvPosition.row`. */
  readonly row: number;
  /** Rows in segments, without header and blank lines. */
  readonly rows: number;
  readonly segments: ObjectRuns;
  /** Row 1 as it is in the file, byte order mark included; "" until it was read. */
  readonly header: string;
}

export interface Counters {
  readonly succeeded: number;
  readonly failed: number;
}

/** An upload job as it is stored. The lease is the splitter's. */
export interface UploadJob extends JobKey, Lease, SplitProgress {
  readonly status: UploadStatus;
  /** `request`: the file came with the call; `form`: it is posted to the bucket. */
  readonly origin: "request" | "form";
  readonly created_at: string;
  readonly updated_at: string;
  /** Where the sweep looks at it next; names its record among the open ones. Absent once the job has ended. */
  readonly next_check?: string;
  /** SHA-256 of what the call sent, where it had an `Idempotency-Key`. */
  readonly content_hash?: string;
  /** Bytes that the form takes. */
  readonly expected_size?: number;
  readonly source_etag?: string;
  readonly source_size?: number;
  readonly part_count?: number;
  /** All rows are in segments and `total_rows` is known: parts may be applied. */
  readonly published?: boolean;
  readonly total_rows: number;
  /** What the job will be once no part of it is under way. */
  readonly stopping?: "failed" | "cancelled";
  readonly error?: string;
  /** Of an ended job; of any other its parts hold them. */
  readonly succeeded_rows: number;
  readonly failed_rows: number;
}

/** One part's checkpoint and counters. Absent until its first claim. */
export interface UploadPart extends Lease, Counters {
  readonly number: number;
  /** Absent on a part that was stopped before anyone claimed it. */
  readonly state?: "open" | "done" | "stopped";
  /** The part goes no further than its next checkpoint. */
  readonly stop?: boolean;
  /** Number of the segment and place in its block up to which rows are counted. */
  readonly segment: number;
  readonly offset: number;
  /** Objects of failed rows. */
  readonly failures: ObjectRuns;
}

export interface UploadSnapshot {
  readonly job: UploadJob;
  /** By number; those that were never claimed are missing. */
  readonly parts: readonly UploadPart[];
}

export const isEnded = ({ status }: Pick<UploadJob, "status">): boolean =>
  status === "completed" || status === "failed" || status === "cancelled";

/** Somebody works on it now. */
export const isHeld = ({ lease_until: until }: Lease, now: number): boolean => until >= now;

export const sumOf = (parts: readonly UploadPart[]): Counters => ({
  succeeded: parts.reduce((sum, part) => sum + part.succeeded, 0),
  failed: parts.reduce((sum, part) => sum + part.failed, 0),
});

const UNCLAIMED: Lease = { epoch: 0, lease_until: 0, stalls: 0, changed_at: 0 };
/** A job that nobody has begun to split. */
export const UNSPLIT: Lease & SplitProgress = { ...UNCLAIMED, offset: 0, row: 0, rows: 0, segments: "", header: "" };
/** A part that nobody has claimed. */
export const UNTOUCHED: Lease & Omit<UploadPart, "number"> = {
  ...UNCLAIMED,
  succeeded: 0,
  failed: 0,
  segment: 0,
  offset: 0,
  failures: "",
};

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
