import * as z from "zod";
import { isoTime } from "../../clock.ts";
import { storedTimestamp } from "../../schema.ts";
import type { Import } from "../../work-items/undo/layers.ts";
import { type Mapping, mappingSchema } from "../mapping/mapping.ts";
import { claimShape } from "./claim.ts";
import { rowCountersSchema, sumOf, toRowCounters } from "./counters.ts";
import { type UploadShard, uploadShardRecordSchema } from "./shard-record.ts";
import { type SingleUploadJobResponse, type UploadJobResponse, uploadStatusSchema } from "./upload-job.ts";

/** Identifies an upload job. */
export interface JobKey {
  readonly organization: string;
  readonly id: string;
}

/** The record of an upload job. Its claim belongs to the worker that reads the file or merges the lists. */
export const uploadJobRecordSchema = z.object({
  organization: z.string(),
  id: z.string(),
  status: uploadStatusSchema,
  /** `request`: the file came with the request; `form`: it is posted to the bucket. */
  origin: z.enum(["request", "form"]),
  created_at: storedTimestamp,
  updated_at: storedTimestamp,
  /** When the sweep checks the job next. Absent once the job has ended. */
  check_at: storedTimestamp.optional(),
  /** Hash of the request's content, if it had an `Idempotency-Key`. */
  content_hash: z.string().optional(),
  /** Id of the API key that requested the job. */
  key_id: z.string().optional(),
  key_name: z.string().optional(),
  /** Id of the request that created the job, which log lines about the job repeat. */
  request_id: z.string().optional(),
  file_name: z.string().optional(),
  /** Size in bytes of the file in the request, or that the form accepts. */
  expected_size: z.int().optional(),
  /** True if no item is to be written. */
  dry_run: z.boolean().optional(),
  /** JSON of the mapping. */
  mapping: z.string().optional(),
  /** Id of the job that this one undoes, and when that was created. Header and mapping are those of that job's file. */
  undo_of: z.string().optional(),
  undo_of_created_at: storedTimestamp.optional(),
  /** Before this time an undo doesn't begin. */
  begins_at: storedTimestamp.optional(),
  source_etag: z.string().optional(),
  source_size: z.int().optional(),
  /** When S3 received the file. */
  source_written_at: storedTimestamp.optional(),
  /** Claims of the file, except those that ended because the store refused. */
  split_attempts: z.int().default(0),
  /** How many chunks each shard has. Absent until the whole file is in chunks: before that, no row is applied. */
  chunks: z.array(z.int()).optional(),
  /** Layout of the chunks (`CHUNK_LAYOUT`). */
  layout: z.int().default(1),
  /** Row 1 of the file, including its byte order mark; "" until the file is in chunks. */
  header: z.string().default(""),
  total_rows: z.int(),
  /** Status that the job will have once no worker holds any of its shards. */
  stopping: z.enum(["failed", "cancelled"]).optional(),
  error: z.string().optional(),
  /** Random id of the run that merged the lists of an ended job (`objectKeys.list`). */
  merged: z.string().optional(),
  ...rowCountersSchema.shape,
  /** Of the ended dry run of a file: in how many rows each field changes. */
  changed_fields: z.record(z.string(), z.int()).optional(),
  ...claimShape,
});
/** A decoded record of an upload job. */
export type UploadJob = Readonly<z.output<typeof uploadJobRecordSchema>>;

/** Seconds since the file of a running job arrived. The time until a form is used doesn't count. */
export function runningSeconds(
  { origin, source_written_at: writtenAt, created_at: createdAt }: UploadJob,
  now: number,
): number {
  const since = (origin === "form" && writtenAt) || createdAt;
  return (now - Date.parse(since)) / 1000;
}

/** The mapping of a job's file; undefined if its columns have the names of fields. */
export function mappingOf({ mapping }: Pick<UploadJob, "mapping">): Mapping | undefined {
  return mapping === undefined ? undefined : mappingSchema.parse(JSON.parse(mapping));
}

/** Whether a job is the dry run of a file, and not of an undo. */
export function isFileTrial({ dry_run: isTrial = false, undo_of: undone }: UploadJob): boolean {
  return isTrial && undone === undefined;
}

/** The import that a job undoes. */
export interface Undone extends Import {
  /** Whether its rows may have events. */
  readonly hasEvents: boolean;
}

/** What a job undoes; undefined if it imports a file. @param mapping its own */
export function undoneBy(job: UploadJob, mapping: Mapping | undefined): Undone | undefined {
  const { undo_of: id, undo_of_created_at: createdAt = "" } = job;
  return id === undefined
    ? undefined
    : { id, createdAt: Date.parse(createdAt), hasEvents: mapping?.event !== undefined };
}

/** The job whose chunks hold the rows of a job, and their layout. An undo uses the chunks of its import. */
export function chunkSource({ organization, id, undo_of: undoOf, layout }: UploadJob) {
  return { organization, id: undoOf ?? id, layout };
}

/** What a request says of a job that is created for it. */
export type NewUpload = Pick<
  UploadJob,
  | "id"
  | "origin"
  | "file_name"
  | "expected_size"
  | "dry_run"
  | "mapping"
  | "undo_of"
  | "undo_of_created_at"
  | "begins_at"
  | "content_hash"
  | "key_id"
  | "key_name"
  | "request_id"
>;

/** Fields of each log line about a job, so that an upload can be followed from its request to its end. */
export function logFieldsOf({ id, organization, request_id: requestId }: UploadJob) {
  return { job: id, organization, request_id: requestId };
}

/** A job and its shards, read together. */
export interface UploadSnapshot {
  readonly job: UploadJob;
  /** In order of their numbers; none before the file is in chunks. */
  readonly shards: readonly UploadShard[];
}

/** The shards of a job. @param stored those that have a record */
export function shardsOf({ chunks = [] }: UploadJob, stored: readonly UploadShard[]): UploadShard[] {
  const byNumber = new Map(stored.map((shard) => [shard.number, shard]));
  return chunks.map((_, number) => byNumber.get(number) ?? uploadShardRecordSchema.parse({ number }));
}

/** Whether all rows of a shard are counted. */
export function isDone({ chunks = [] }: UploadJob, { number, next }: UploadShard): boolean {
  return next >= (chunks[number] ?? 0);
}

/** Whether a shard is done, or stopped and closed. */
export function isSettled(job: UploadJob, shard: UploadShard): boolean {
  return shard.closed === true || isDone(job, shard);
}

/** Whether all rows of a job are counted. */
export function isComplete({ job, shards }: UploadSnapshot): boolean {
  return job.chunks !== undefined && shards.every((shard) => isDone(job, shard));
}

/** Whether a job has ended. It no longer changes. */
export function isEnded({ status }: Pick<UploadJob, "status">): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** A job in lists. */
export function toUploadJobResponse({ job, shards }: UploadSnapshot): UploadJobResponse {
  const changed = isEnded(job) ? [] : [job.changed_at, ...shards.map((shard) => shard.changed_at)];
  const updated = isoTime(Math.max(Date.parse(job.updated_at), ...changed));
  // The record of an undo has the size of the undone job's file.
  const size = job.undo_of === undefined ? (job.expected_size ?? job.source_size) : undefined;
  return {
    id: job.id,
    status: job.status,
    ...(job.file_name !== undefined && { file_name: job.file_name }),
    ...(size !== undefined && { size }),
    ...(job.key_name !== undefined && { key_name: job.key_name }),
    dry_run: job.dry_run ?? false,
    ...(job.undo_of !== undefined && { undo_of: job.undo_of }),
    ...(job.begins_at !== undefined && { begins_at: job.begins_at }),
    total_rows: job.total_rows,
    ...(isEnded(job) ? rowCountersSchema.parse(job) : toRowCounters(sumOf(shards))),
    ...(isEnded(job) && job.error !== undefined && { error: job.error }),
    created_at: job.created_at,
    updated_at: updated,
  };
}

/** A job with the id of the job that undoes it, if there is one. */
export function withUndo<T extends UploadJobResponse>(job: T, undo: string | undefined): T {
  return { ...job, ...(undo !== undefined && { undone_by: undo }) };
}

/** In how many rows of a dry run each field changes; undefined for other jobs, and for those that ended without it. */
function changedFieldsOf({ job, shards }: UploadSnapshot): Readonly<Record<string, number>> | undefined {
  if (!isFileTrial(job)) return undefined;
  return isEnded(job) ? job.changed_fields : sumOf(shards).changed_fields;
}

/** A job by itself in responses. @param undo id of the job that undoes it */
export function toSingleUploadJobResponse(snapshot: UploadSnapshot, undo?: string): SingleUploadJobResponse {
  const { mapping } = snapshot.job;
  const changed = changedFieldsOf(snapshot);
  return {
    ...withUndo(toUploadJobResponse(snapshot), undo),
    ...(mapping !== undefined && { mapping: JSON.parse(mapping) as Mapping }),
    ...(changed && { changed_fields: changed }),
  };
}
