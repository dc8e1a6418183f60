import { crc32 } from "node:zlib";
import { paginateQuery, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import type { Attributes } from "../../aws/attribute-values.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { type Clock, isoTime } from "../../clock.ts";
import { TooManyRequestsError } from "../../errors.ts";
import type { Organization } from "../../organizations/organization.ts";
import { partitionKeyOf, resources, SORT_KEY } from "../../resources.ts";
import { allItems, readPartition } from "../../store/all-items.ts";
import { getItem } from "../../store/batch-get.ts";
import { changeRecord, type ConditionalUpdate } from "../../store/conditional-update.ts";
import { writeConditionally } from "../../store/conditional-write.ts";
import { decoderOf } from "../../store/decode-record.ts";
import { listingEntry } from "../../store/lists/partition.ts";
import type { RecordKey } from "../../store/versioned-record.ts";
import { CLAIM_MS } from "./claim.ts";
import { shardFrom, ShardStore, uploadPartition } from "./shard-store.ts";
import { type Counters, toRowCounters } from "./counters.ts";
import {
  isFileTrial,
  shardsOf,
  type JobKey,
  type NewUpload,
  type UploadJob,
  uploadJobRecordSchema,
  type UploadSnapshot,
} from "./upload-record.ts";

/** Longer errors are cut: the record must stay far below DynamoDB's 400 KB. */
const ERROR_MAX_CHARACTERS = 4000;

const openJobs = resources.workItems.indexes.open_jobs;
/** Number of partitions for open jobs, so that their writes are not limited to one partition's throughput. */
const OPEN_PARTITIONS = 8;
/** Unfinished jobs of one organization at most: far more than run at once, and few enough for the sweep. */
const OPEN_MAX = 100;
/** In this time, some of them usually end. */
const RETRY_AFTER_SECONDS = 30;

/** An open job is due for a check this long after each change, so the next sweep but one checks it at the latest. */
export const CHECK_WITHIN_MS = 55_000;

/** Sort key of the record of a job. It sorts before those of the job's shards. */
export const JOB_SORT_KEY = "#JOB";

/** Primary key of the record of a job. */
export function jobKey(job: JobKey): RecordKey {
  return { pk: uploadPartition(job), sk: JOB_SORT_KEY };
}
function openPartition(organization: string): string {
  return partitionKeyOf("OPEN_UPLOADS", crc32(organization) % OPEN_PARTITIONS);
}

/** Decodes the record of a job. @throws MalformedRecordError */
export const jobFrom = decoderOf("upload job", uploadJobRecordSchema);

const IS_OPEN = "attribute_exists(#check_at)";
const IS_RUNNING = `${IS_OPEN} AND attribute_not_exists(#stopping)`;
const IS_UNREAD = `${IS_RUNNING} AND attribute_not_exists(#chunks)`;

/** The condition for a claim on a job: to read its file until its rows are in chunks, then to merge its lists. */
function whileHeld({ chunks }: UploadJob): string {
  return chunks === undefined ? IS_UNREAD : IS_OPEN;
}

/** The object of a file when a worker starts to read it. */
export interface SourceFile {
  readonly etag: string;
  readonly size: number;
  readonly writtenAt: Date;
}

/**
 * The records of upload jobs and their shards in the WorkItems table. Each change is one conditional write of absolute values, so
 * it can be repeated if its response is lost.
 */
export class UploadStore {
  readonly shards: ShardStore;
  readonly #table: string;
  readonly #dynamodb: RuntimeWith<"workItems">["dynamodb"];
  readonly #clock: Clock;

  constructor(runtime: RuntimeWith<"workItems">) {
    const { dynamodb, environment, clock } = runtime;
    this.shards = new ShardStore(runtime);
    this.#table = environment.WORK_ITEMS_TABLE;
    this.#dynamodb = dynamodb;
    this.#clock = clock;
  }

  async readJob(job: JobKey): Promise<UploadJob | undefined> {
    const item = await getItem(this.#dynamodb, this.#table, jobKey(job));
    return item && jobFrom(item);
  }

  /** Reads a job and its shards, strongly consistent. */
  async read(job: JobKey): Promise<UploadSnapshot | undefined> {
    const [first, ...stored] = await readPartition(this.#dynamodb, this.#table, uploadPartition(job));
    if (first?.[SORT_KEY] !== JOB_SORT_KEY) return undefined;
    const found = jobFrom(first);
    return { job: found, shards: shardsOf(found, stored.map(shardFrom)) };
  }

  /**
   * Checks the limit of unfinished jobs. Simultaneous requests may exceed it, and so may requests before the index shows the
   * latest jobs. Below the limit, no request is rejected.
   * @throws TooManyRequestsError
   */
  async assertRoom({ id }: Organization): Promise<void> {
    const { Count = 0 } = await this.#dynamodb.send(
      new QueryCommand({ ...this.#openOf(id), Select: "COUNT", Limit: OPEN_MAX }),
    );
    if (Count < OPEN_MAX) return;
    const message = `at most ${OPEN_MAX} uploads may be unfinished; cancel some, or retry after ${RETRY_AFTER_SECONDS} s`;
    throw new TooManyRequestsError(message, RETRY_AFTER_SECONDS);
  }

  /** An organization's open jobs, as far as the index shows them. */
  async openJobsOf(organization: string): Promise<JobKey[]> {
    return (await this.#query(this.#openOf(organization))).map(openJobFrom);
  }

  /** The open jobs whose check is due, as far as the index shows them. @param now milliseconds since the epoch */
  async dueJobs(now: number): Promise<JobKey[]> {
    const partitions = Array.from({ length: OPEN_PARTITIONS }, (_, number) =>
      this.#query({
        IndexName: "open_jobs",
        KeyConditionExpression: "#pk = :pk",
        FilterExpression: "check_at <= :now",
        ExpressionAttributeNames: { "#pk": openJobs.partitionKey },
        ExpressionAttributeValues: { ":pk": partitionKeyOf("OPEN_UPLOADS", number), ":now": isoTime(now) },
      }),
    );
    return (await Promise.all(partitions)).flat().map(openJobFrom);
  }

  /** Creates a job, unless its id exists. @param checkAt when the sweep first checks it @returns the existing or created job */
  async create(
    organization: Organization,
    upload: NewUpload,
    checkAt: number,
  ): Promise<{ readonly job: UploadJob; readonly created: boolean }> {
    const now = isoTime(this.#clock());
    const job = {
      ...upload,
      organization: organization.id,
      status: "pending" as const,
      created_at: now,
      updated_at: now,
      check_at: isoTime(checkAt),
      total_rows: 0,
      succeeded_rows: 0,
      failed_rows: 0,
    };
    const item = {
      ...jobKey(job),
      ...job,
      ...listingEntry("LIST_UPLOAD", organization, job.id, `${now}#${job.id}`),
      [openJobs.partitionKey]: openPartition(organization.id),
      [openJobs.sortKey]: `${organization.id}#${job.id}`,
    };
    const put = new PutCommand({ TableName: this.#table, Item: item, ConditionExpression: "attribute_not_exists(pk)" });
    const outcome = await writeConditionally(this.#dynamodb, put);
    if (outcome.kind === "written") return { job: jobFrom(job), created: true };
    const existing = outcome.current && (await this.readJob(job));
    if (existing === undefined) throw outcome.error;
    return { job: existing, created: false };
  }

  /**
   * Claims a job that no worker has, to read its file or to merge its lists.
   * @param reading the file to read; `refusedSince` as in `ShardStore.claim` @default merges the lists
   * @returns undefined if another worker has the job, or if it must not be claimed for this
   */
  async claim(
    job: UploadJob,
    reading?: { readonly source: SourceFile; readonly refusedSince?: number | undefined },
  ): Promise<UploadJob | undefined> {
    const now = this.#clock();
    const { source, refusedSince = 0 } = reading ?? {};
    return this.#changeJob(job, {
      set: {
        busy_until: now + CLAIM_MS,
        changed_at: now,
        ...(source && {
          status: "processing",
          source_etag: source.etag,
          source_size: source.size,
          source_written_at: isoTime(source.writtenAt.getTime()),
          split_attempts: job.split_attempts + (refusedSince > 0 ? 0 : 1),
          refused_since: job.refused_since || refusedSince,
          resent: 0,
          check_at: isoTime(now + CHECK_WITHIN_MS),
        }),
      },
      condition: [
        whileHeld(job),
        "(attribute_not_exists(#busy_until) OR #busy_until < :now)",
        ...(source ? ["(attribute_not_exists(#source_etag) OR #source_etag = :etag)"] : []),
      ].join(" AND "),
      given: { now, ...(source && { etag: source.etag }) },
    });
  }

  /** Renews a worker's claim on a job. @returns false if the worker must stop */
  async renew(job: UploadJob): Promise<boolean> {
    const now = this.#clock();
    const set = { busy_until: now + CLAIM_MS, changed_at: now };
    return (await this.#changeJob(job, { set, condition: whileHeld(job) })) !== undefined;
  }

  /**
   * Releases the claim on a job that isn't done.
   * @param refusedUntil until when the next worker waits, if the store refused; otherwise 0
   */
  async release(job: UploadJob, refusedUntil = 0): Promise<void> {
    const now = this.#clock();
    const attempts = Math.max(0, job.split_attempts - 1);
    const refused = { split_attempts: attempts, refused_since: job.refused_since || now };
    const set = { busy_until: refusedUntil, changed_at: now, ...(refusedUntil > 0 && refused) };
    await this.#changeJob(job, { set, condition: whileHeld(job) });
  }

  /** Records in one write that all rows are in chunks. @returns undefined if the job was stopped or already published */
  async publish(
    job: JobKey,
    file: Pick<UploadJob, "header" | "layout"> & { readonly chunks: readonly number[]; readonly rows: number },
  ): Promise<UploadJob | undefined> {
    const now = this.#clock();
    return this.#changeJob(job, {
      set: {
        chunks: file.chunks,
        layout: file.layout,
        header: file.header,
        total_rows: file.rows,
        updated_at: isoTime(now),
        check_at: isoTime(now + CHECK_WITHIN_MS),
        changed_at: now,
        busy_until: 0,
        refused_since: 0,
        resent: 0,
      },
      condition: IS_UNREAD,
    });
  }

  /**
   * Sets the status with which the job will end.
   * @returns false if the job has ended, or already has such a status
   */
  async requestStop(
    job: JobKey,
    stopping: NonNullable<UploadJob["stopping"]>,
    options: { readonly error?: string; readonly unlessPublished?: boolean } = {},
  ): Promise<boolean> {
    const now = this.#clock();
    const error = options.error?.slice(0, ERROR_MAX_CHARACTERS);
    const set = { stopping, error, changed_at: now, resent: 0, check_at: isoTime(now + CHECK_WITHIN_MS) };
    const condition = options.unlessPublished ? IS_UNREAD : IS_RUNNING;
    return (await this.#changeJob(job, { set, condition })) !== undefined;
  }

  /** Ends an open job. Only the first of simultaneous calls has an effect. */
  async end(
    job: UploadJob,
    counters: Counters,
    outcome: {
      readonly status: "completed" | "failed" | "cancelled";
      readonly error?: string;
      readonly merged?: string | undefined;
    },
  ): Promise<boolean> {
    await this.shards.keep(job);
    const ended = await this.#changeJob(job, {
      set: {
        ...outcome,
        ...toRowCounters(counters),
        ...(isFileTrial(job) && { changed_fields: counters.changed_fields }),
        updated_at: isoTime(this.#clock()),
      },
      remove: ["check_at", "busy_until", openJobs.partitionKey, openJobs.sortKey],
      condition: outcome.status === "completed" ? IS_RUNNING : IS_OPEN,
    });
    return ended !== undefined;
  }

  /** Moves the next check of an open job forward if it is later than usual, as for a form whose file hasn't arrived. */
  async watch(job: JobKey): Promise<void> {
    const at = isoTime(this.#clock() + CHECK_WITHIN_MS);
    await this.#changeJob(job, { set: { check_at: at }, condition: "#check_at > :at", given: { at } });
  }

  /**
   * Postpones the next check of a job, unless its check has changed since it was read.
   * @param at milliseconds since the epoch @param options `isResent`: whether a message was sent for it
   */
  async postponeCheck(
    { check_at: check, resent, ...job }: UploadJob,
    at: number,
    { isResent = false }: { readonly isResent?: boolean } = {},
  ): Promise<void> {
    await this.#changeJob(job, {
      set: { check_at: isoTime(at), ...(isResent && { resent: resent + 1, resent_at: this.#clock() }) },
      condition: "#check_at = :check",
      given: { check },
    });
  }

  #openOf(organization: string) {
    return {
      TableName: this.#table,
      IndexName: "open_jobs",
      KeyConditionExpression: "#pk = :pk AND begins_with(#sk, :of)",
      ExpressionAttributeNames: { "#pk": openJobs.partitionKey, "#sk": openJobs.sortKey },
      ExpressionAttributeValues: { ":pk": openPartition(organization), ":of": `${organization}#` },
    };
  }

  #query(input: Omit<ConstructorParameters<typeof QueryCommand>[0], "TableName">): Promise<Attributes[]> {
    return allItems(paginateQuery({ client: this.#dynamodb }, { TableName: this.#table, ...input }));
  }

  async #changeJob(job: JobKey, change: Omit<ConditionalUpdate, "key">): Promise<UploadJob | undefined> {
    const changed = await changeRecord(this.#dynamodb, this.#table, { ...change, key: jobKey(job) });
    return changed && jobFrom(changed);
  }
}

/** Reads the key only, so that a damaged record can't stop the sweep. */
function openJobFrom(item: Attributes): JobKey {
  const [organization = "", id = ""] = String(item[openJobs.sortKey]).split("#");
  return { organization, id };
}
