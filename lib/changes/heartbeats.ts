import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { RuntimeWith } from "../aws/runtime.ts";
import { isoTime } from "../clock.ts";
import { PARTITION_KEY, partitionKeyOf, SORT_KEY } from "../resources.ts";
import { mapConcurrently } from "../retry.ts";
import { batchGet } from "../store/batch-get.ts";
import { newWriteId } from "../store/versioned-record.ts";
import { isConditionFailure } from "../store/write-outcome.ts";

/** Many keys, so that every shard of the stream gets the heartbeats of some. */
const HEARTBEAT_KEYS = 64;
const CONCURRENT_WRITES = 16;
/** DynamoDB keeps the records of a stream for 24 hours; the rest is for clocks and for the function's own time. */
export const STREAM_KEEPS_MS = 23 * 60 * 60 * 1000;

const heartbeatNumbers = Array.from({ length: HEARTBEAT_KEYS }, (_, number) => number);

function heartbeatKey(number: number) {
  return {
    [PARTITION_KEY]: partitionKeyOf("HEARTBEAT", number),
    [SORT_KEY]: "#HEARTBEAT",
  };
}
function notedKey(number: string) {
  return {
    [PARTITION_KEY]: partitionKeyOf("NOTED_HEARTBEAT", number),
    [SORT_KEY]: "#HEARTBEAT",
  };
}
const dueKey = { [PARTITION_KEY]: partitionKeyOf("HOLES", "all"), [SORT_KEY]: "#DUE" };

/** Writes a heartbeat under every key. Each must differ from the last one: a write that changes nothing is in no stream. */
export async function writeHeartbeats({ dynamodb, environment, clock }: RuntimeWith<"workItems">): Promise<void> {
  await mapConcurrently(heartbeatNumbers, CONCURRENT_WRITES, async (number) => {
    const Item = { ...heartbeatKey(number), at: isoTime(clock()) };
    await dynamodb.send(new PutCommand({ TableName: environment.WORK_ITEMS_TABLE, Item }));
  });
}

/** Holes that are to be put into the logs of all organizations. */
export interface DueHoles {
  /** Changes whenever holes become due again. */
  readonly id: string;
  /** The last organization whose log has its hole. */
  readonly after?: string | undefined;
}

/** Reads and writes what the recorder and the sweep of changes tell each other. */
export function createHeartbeatNotes({ dynamodb, environment, clock }: RuntimeWith<"changes">) {
  const table = environment.CHANGES_TABLE;

  /** Carries out a write of the due holes, if they are still the same. */
  async function ifSame(write: Promise<unknown>): Promise<boolean> {
    try {
      await write;
      return true;
    } catch (error) {
      if (isConditionFailure(error)) return false;
      throw error;
    }
  }
  const same = ({ id }: DueHoles) => ({
    TableName: table,
    Key: dueKey,
    ConditionExpression: "id = :id",
    ExpressionAttributeValues: { ":id": id },
  });

  const read = async (numbers: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    const records = await batchGet(dynamodb, table, numbers.map(notedKey));
    return new Map(records.map(({ pk, created }) => [String(pk).split("#")[1] ?? "", Number(created)]));
  };

  return {
    /**
     * Reads when the last heartbeat of each key was created, of those that have been noted.
     * @returns milliseconds since the epoch by number
     */
    read,
    /**
     * Reads the time before which everything that was written is in the logs, in milliseconds since the epoch; undefined
     * until every key has a noted heartbeat.
     */
    readComplete: async (): Promise<number | undefined> => {
      const noted = await read(heartbeatNumbers.map(String));
      return noted.size < HEARTBEAT_KEYS ? undefined : Math.min(...noted.values());
    },
    /** Notes when a key's heartbeat was created. @param created milliseconds since the epoch */
    note: async (number: string, created: number): Promise<void> => {
      await dynamodb.send(new PutCommand({ TableName: table, Item: { ...notedKey(number), created } }));
    },
    /** Notes that changes may have been lost, whosever they were. */
    noteDueHoles: async (): Promise<void> => {
      await dynamodb.send(
        new PutCommand({ TableName: table, Item: { ...dueKey, id: newWriteId(), since: isoTime(clock()) } }),
      );
    },
    readDueHoles: async (): Promise<DueHoles | undefined> => {
      const { Item } = await dynamodb.send(new GetCommand({ TableName: table, Key: dueKey, ConsistentRead: true }));
      return Item && { id: String(Item["id"]), after: Item["after"] as string | undefined };
    },
    /** Notes up to which organization they are put. @returns false if they have become due again meanwhile */
    keepPlace: (due: DueHoles, after: string): Promise<boolean> => {
      const { ExpressionAttributeValues: values, ...condition } = same(due);
      return ifSame(
        dynamodb.send(
          new UpdateCommand({
            ...condition,
            UpdateExpression: "SET #after = :after",
            ExpressionAttributeNames: { "#after": "after" },
            ExpressionAttributeValues: { ...values, ":after": after },
          }),
        ),
      );
    },
    /** Notes that all are put, unless they have become due again meanwhile. */
    clearDueHoles: (due: DueHoles): Promise<boolean> => ifSame(dynamodb.send(new DeleteCommand(same(due)))),
  };
}
