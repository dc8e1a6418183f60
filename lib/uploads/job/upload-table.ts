import { crc32 } from "node:zlib";
import {
  GetCommand,
  paginateQuery,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { backOff, CONFLICT_CAP_MS } from "../../retry.ts";
import { isoTime } from "../../clock.ts";
import { StoreBusyError } from "../../errors.ts";
import { allItems } from "../../store/all-items.ts";
import { type ConditionalUpdate, toUpdate } from "../../store/conditional-update.ts";
import { decoderOf } from "../../store/decode-record.ts";
import { isConditionFailure, isTransactionCancelled, isTransactionConflict } from "../../store/write-outcome.ts";
import type { Attributes } from "../../aws/attribute-values.ts";
import type { RecordKey } from "../../store/versioned-record.ts";
import { partitionKeyOf } from "../../resources.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import {
  type JobKey,
  type UploadJob,
  uploadJobRecordSchema,
  uploadPartRecordSchema,
  type UploadSnapshot,
} from "./upload-record.ts";

/** Number of partitions for open jobs, so that their writes are not limited to one partition's throughput. */
const OPEN_SHARDS = 8;
/** Single writes that conflict with a transaction are tried so often. */
const CONFLICTS_MAX = 8;
const JOB_SORT_KEY = "#JOB";
const PART_PREFIX = "PART#";

function partitionOf({ organization, id }: JobKey): string {
  return partitionKeyOf("UPLOAD", organization, id);
}
function openPartition(shard: number): string {
  return partitionKeyOf("OPEN_UPLOADS", shard);
}

/** Primary keys of the records of upload jobs. */
export const recordKeys = {
  job: (job: JobKey): RecordKey => ({ pk: partitionOf(job), sk: JOB_SORT_KEY }),
  part: (job: JobKey, number: number): RecordKey => ({
    pk: partitionOf(job),
    sk: `${PART_PREFIX}${String(number).padStart(2, "0")}`,
  }),
  /** Key of an open record. @param due when the sweep checks the job, ISO 8601 */
  open: ({ organization, id }: JobKey, due: string): RecordKey => ({
    pk: openPartition(crc32(id) % OPEN_SHARDS),
    sk: `${due}#${organization}#${id}`,
  }),
  /** Of an open job among those of its organization. */
  openOf: ({ organization, id }: JobKey): RecordKey => ({
    pk: partitionKeyOf("OPEN_UPLOADS_OF", organization),
    sk: id,
  }),
};

/** Decodes the record of a job. @throws MalformedRecordError */
export const jobFrom = decoderOf("upload job", uploadJobRecordSchema);
/** Decodes the record of a part. @throws MalformedRecordError */
export const partFrom = decoderOf("part of an upload job", uploadPartRecordSchema);

/** An open record: the job may still be open. */
export interface OpenUpload extends JobKey {
  /** When the sweep checks the job, ISO 8601. */
  readonly due: string;
}

/** Reads and writes the records of upload jobs in the WorkItems table. The conditions of the writes are set by the stores. */
export class UploadTable {
  readonly name: string;
  readonly #dynamodb: RuntimeWith<"workItems">["dynamodb"];

  constructor({ dynamodb, environment }: RuntimeWith<"workItems">) {
    this.name = environment.WORK_ITEMS_TABLE;
    this.#dynamodb = dynamodb;
  }

  async readJob(job: JobKey): Promise<UploadJob | undefined> {
    const item = await this.get(recordKeys.job(job));
    return item && jobFrom(item);
  }

  /** Reads a job and its parts, strongly consistent. */
  async read(job: JobKey): Promise<UploadSnapshot | undefined> {
    const [first, ...parts] = await this.#query("pk = :pk", { ":pk": partitionOf(job) }, true);
    return first?.["sk"] === JOB_SORT_KEY ? { job: jobFrom(first), parts: parts.map(partFrom) } : undefined;
  }

  async get(key: RecordKey): Promise<Attributes | undefined> {
    return (await this.#dynamodb.send(new GetCommand({ TableName: this.name, Key: key, ConsistentRead: true }))).Item;
  }

  /** Changes a record. @returns the record after the change; null if the condition did not hold */
  async update(change: ConditionalUpdate): Promise<Attributes | null> {
    for (let attempt = 1; attempt <= CONFLICTS_MAX; attempt++) {
      const changed = await this.updateOnce(change);
      if (changed !== undefined) return changed;
      await backOff(attempt, CONFLICT_CAP_MS);
    }
    throw new StoreBusyError("the upload is being changed by others");
  }

  /**
   * Attempts to change a record.
   * @returns as `update`; undefined if a transaction was changing the record: the sweep and the worker of a job change it
   * by transactions and by single writes
   */
  async updateOnce(change: ConditionalUpdate): Promise<Attributes | null | undefined> {
    try {
      const { Attributes } = await this.#dynamodb.send(
        new UpdateCommand({ ...toUpdate(this.name, change), ReturnValues: "ALL_NEW" }),
      );
      return Attributes ?? {};
    } catch (error) {
      if (isConditionFailure(error)) return null;
      if (isTransactionConflict(error)) return undefined;
      throw error;
    }
  }

  /** Runs a transaction. @returns false if a condition did not hold or another writer interfered */
  async transact(actions: TransactWriteCommandInput["TransactItems"]): Promise<boolean> {
    try {
      await this.#dynamodb.send(new TransactWriteCommand({ TransactItems: actions }));
      return true;
    } catch (error) {
      if (isTransactionCancelled(error)) return false;
      throw error;
    }
  }

  /**
   * The open records whose check is due, of all shards at once.
   * @param now milliseconds since the epoch
   */
  async openUploads(now: number): Promise<OpenUpload[]> {
    const shards = Array.from({ length: OPEN_SHARDS }, (_, shard) =>
      this.#query("pk = :pk AND sk < :before", { ":pk": openPartition(shard), ":before": isoTime(now) }, false),
    );
    return (await Promise.all(shards)).flat().map(({ sk }) => {
      // The key holds everything, so that no damaged record can stop the sweep.
      const [due = "", organization = "", id = ""] = String(sk).split("#");
      return { organization, id, due };
    });
  }

  /** How many jobs of an organization are open, counted up to `most`. */
  async countOpen(organization: string, most: number): Promise<number> {
    const { Count = 0 } = await this.#dynamodb.send(
      new QueryCommand({
        TableName: this.name,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": partitionKeyOf("OPEN_UPLOADS_OF", organization) },
        ConsistentRead: true,
        Select: "COUNT",
        Limit: most,
      }),
    );
    return Count;
  }

  /** The records that a query finds, on all its pages. */
  #query(condition: string, values: Attributes, consistent: boolean): Promise<Attributes[]> {
    const input = {
      TableName: this.name,
      KeyConditionExpression: condition,
      ExpressionAttributeValues: values,
      ConsistentRead: consistent,
    };
    return allItems(paginateQuery({ client: this.#dynamodb }, input));
  }
}
