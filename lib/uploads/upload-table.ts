import { crc32 } from "node:zlib";
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { PARTITION_KEY, SORT_KEY } from "../aws/tables.ts";
import { isoTime } from "../clock.ts";
import { type ConditionalUpdate, toUpdate } from "./conditional-update.ts";
import type { JobKey } from "./upload-objects.ts";
import { UNSPLIT, UNTOUCHED, type UploadJob, type UploadPart, type UploadSnapshot } from "./upload-record.ts";

/** Partitions of the open jobs, so that their writes are not held to one partition's throughput. */
const OPEN_SHARDS = 8;
const OPEN = "OPEN_UPLOADS";
const JOB_SORT_KEY = "#JOB";
const PART_PREFIX = "PART#";

export type Item = Record<string, unknown>;

const partitionOf = ({ organization, id }: JobKey): string => `UPLOAD#${organization}#${id}`;

/** Keys of the records of upload jobs. */
export const recordKeys = {
  job: (job: JobKey) => ({ [PARTITION_KEY]: partitionOf(job), [SORT_KEY]: JOB_SORT_KEY }),
  part: (job: JobKey, number: number) => ({
    [PARTITION_KEY]: partitionOf(job),
    [SORT_KEY]: `${PART_PREFIX}${String(number).padStart(2, "0")}`,
  }),
  /** @param due ISO 8601, when the sweep is to look at the job */
  open: ({ organization, id }: JobKey, due: string) => ({
    [PARTITION_KEY]: `${OPEN}#${crc32(id) % OPEN_SHARDS}`,
    [SORT_KEY]: `${due}#${organization}#${id}`,
  }),
};

export const jobFrom = (item: Item): UploadJob => ({ ...UNSPLIT, ...item }) as unknown as UploadJob;
export const partFrom = (item: Item): UploadPart => ({ ...UNTOUCHED, ...item }) as unknown as UploadPart;

/** A job that is not known to have ended, by its record among the open ones. */
export interface OpenUpload extends JobKey {
  readonly due: string;
}

const isConditionFailure = (error: unknown): boolean =>
  error instanceof Error && error.name === "ConditionalCheckFailedException";
const isCancelled = (error: unknown): boolean =>
  error instanceof Error && error.name === "TransactionCanceledException";

/** Reads and writes of the records of upload jobs; which writes are right is for the stores to know. */
export const createUploadTable = (dynamodb: DynamoDBDocumentClient, table: string) => {
  /** The record after the change; null where the condition did not hold. */
  const update = async (change: ConditionalUpdate): Promise<Item | null> => {
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
  const get = async (key: Item): Promise<Item | undefined> =>
    (await dynamodb.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item;

  const query = async function* (
    partition: string,
    options: { readonly before?: string; readonly consistent: boolean },
  ): AsyncGenerator<Item> {
    const { before, consistent } = options;
    let from: Item | undefined;
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
      for await (const item of query(`${OPEN}#${shard}`, { before: isoTime(now), consistent: false })) {
        const { organization, id } = item as unknown as JobKey;
        yield { organization, id, due: String(item[SORT_KEY]).split("#")[0]! };
      }
    }
  };

  return {
    name: table,
    update,
    get,
    remove: async (key: Item): Promise<void> => {
      await dynamodb.send(new DeleteCommand({ TableName: table, Key: key }));
    },

    /** False where a condition did not hold, or somebody else was writing. */
    transact: async (actions: TransactWriteCommandInput["TransactItems"]): Promise<boolean> => {
      try {
        await dynamodb.send(new TransactWriteCommand({ TransactItems: actions }));
        return true;
      } catch (error) {
        if (isCancelled(error)) return false;
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
      return first?.[SORT_KEY] === JOB_SORT_KEY ? { job: jobFrom(first), parts: parts.map(partFrom) } : undefined;
    },

    openUploads,
  };
};

export type UploadTable = ReturnType<typeof createUploadTable>;
