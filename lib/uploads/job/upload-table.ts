import { crc32 } from "node:zlib";
import {
  DeleteCommand,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { isoTime } from "../../clock.ts";
import { type ConditionalUpdate, toUpdate } from "../../dynamodb/conditional-update.ts";
import { decoderOf } from "../../dynamodb/decode-record.ts";
import { isConditionFailure, isTransactionCancelled } from "../../dynamodb/errors.ts";
import type { Attributes, RecordKey } from "../../dynamodb/versioned-record.ts";
import { partitionKeyOf } from "../../resources.ts";
import type { RuntimeWith } from "../../runtime/runtime.ts";
import {
  type JobKey,
  type UploadJob,
  uploadJobRecordSchema,
  uploadPartRecordSchema,
  type UploadSnapshot,
} from "./upload-record.ts";

/** Partitions of the open jobs, so that their writes are not held to one partition's throughput. */
const OPEN_SHARDS = 8;
const JOB_SORT_KEY = "#JOB";
const PART_PREFIX = "PART#";

const partitionOf = ({ organization, id }: JobKey): string => partitionKeyOf("UPLOAD", organization, id);
const openPartition = (shard: number): string => partitionKeyOf("OPEN_UPLOADS", shard);

/** Keys of the records of upload jobs. */
export const recordKeys = {
  job: (job: JobKey): RecordKey => ({ pk: partitionOf(job), sk: JOB_SORT_KEY }),
  part: (job: JobKey, number: number): RecordKey => ({
    pk: partitionOf(job),
    sk: `${PART_PREFIX}${String(number).padStart(2, "0")}`,
  }),
  /** @param due ISO 8601, when the sweep is to look at the job */
  open: ({ organization, id }: JobKey, due: string): RecordKey => ({
    pk: openPartition(crc32(id) % OPEN_SHARDS),
    sk: `${due}#${organization}#${id}`,
  }),
};

/** @throws MalformedRecordError */
export const jobFrom = decoderOf("upload job", uploadJobRecordSchema);
/** @throws MalformedRecordError */
export const partFrom = decoderOf("part of an upload job", uploadPartRecordSchema);

/** A job that is not known to have ended, by its record among the open ones. */
export interface OpenUpload extends JobKey {
  readonly due: string;
}
const decodeOpen = decoderOf("open upload job", z.object({ sk: z.string(), organization: z.string(), id: z.string() }));

/** Reads and writes of the records of upload jobs; which writes are right is for the stores to know. */
export const createUploadTable = ({ dynamodb, environment }: RuntimeWith<"workItems">) => {
  const table = environment.WORK_ITEMS_TABLE;

  /** The record after the change; null where the condition did not hold. */
  const update = async (change: ConditionalUpdate): Promise<Attributes | null> => {
    try {
      const { Attributes } = await dynamodb.send(
        new UpdateCommand({ ...toUpdate(table, change), ReturnValues: "ALL_NEW" }),
      );
      return Attributes ?? {};
    } catch (error) {
      if (isConditionFailure(error)) return null;
      throw error;
    }
  };
  const get = async (key: RecordKey): Promise<Attributes | undefined> =>
    (await dynamodb.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item;

  const query = async function* (
    partition: string,
    options: { readonly before?: string; readonly consistent: boolean },
  ): AsyncGenerator<Attributes> {
    const { before, consistent } = options;
    let from: Record<string, unknown> | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await dynamodb.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: before === undefined ? "pk = :pk" : "pk = :pk AND sk < :before",
          ExpressionAttributeValues: { ":pk": partition, ...(before !== undefined && { ":before": before }) },
          ConsistentRead: consistent,
          ...(from && { ExclusiveStartKey: from }),
        }),
      );
      yield* Items;
      from = LastEvaluatedKey;
    } while (from);
  };

  /** The open jobs that are due for a look. */
  const openUploads = async function* (now: number): AsyncGenerator<OpenUpload> {
    for (let shard = 0; shard < OPEN_SHARDS; shard++) {
      for await (const item of query(openPartition(shard), { before: isoTime(now), consistent: false })) {
        const { sk, organization, id } = decodeOpen(item);
        yield { organization, id, due: sk.slice(0, sk.indexOf("#")) };
      }
    }
  };

  return {
    name: table,
    update,
    get,
    remove: async (key: RecordKey): Promise<void> => {
      await dynamodb.send(new DeleteCommand({ TableName: table, Key: key }));
    },

    /** False where a condition did not hold, or somebody else was writing. */
    transact: async (actions: TransactWriteCommandInput["TransactItems"]): Promise<boolean> => {
      try {
        await dynamodb.send(new TransactWriteCommand({ TransactItems: actions }));
        return true;
      } catch (error) {
        if (isTransactionCancelled(error)) return false;
        throw error;
      }
    },

    readJob: async (job: JobKey): Promise<UploadJob | undefined> => {
      const item = await get(recordKeys.job(job));
      return item && jobFrom(item);
    },

    /** The job and its parts in one strongly consistent read. */
    read: async (job: JobKey): Promise<UploadSnapshot | undefined> => {
      const [first, ...parts] = await Array.fromAsync(query(partitionOf(job), { consistent: true }));
      return first?.["sk"] === JOB_SORT_KEY
        ? { job: jobFrom(first), parts: parts.map((part) => partFrom(part)) }
        : undefined;
    },

    openUploads,
  };
};

export type UploadTable = ReturnType<typeof createUploadTable>;
