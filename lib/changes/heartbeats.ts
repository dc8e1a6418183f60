import { PutCommand } from "@aws-sdk/lib-dynamodb";
import type { RuntimeWith } from "../aws/runtime.ts";
import { isoTime } from "../clock.ts";
import { partitionKeyOf } from "../resources.ts";
import { mapConcurrently } from "../retry.ts";
import { batchGet } from "../store/batch-get.ts";

/**
 * Enough keys that every shard of a young table's stream gets heartbeats. Of 20 shards each is missed with a probability of 4 %,
 * of 64 with 37 %: docs/operations.md says what that means.
 */
const HEARTBEAT_KEYS = 64;
const CONCURRENT_WRITES = 16;
/** DynamoDB keeps a stream's records for 24 hours. The rest allows for clock differences and the function's own time. */
export const STREAM_KEEPS_MS = 23 * 60 * 60 * 1000;

const heartbeatNumbers = Array.from({ length: HEARTBEAT_KEYS }, (_, number) => number);

function keyOf(kind: "HEARTBEAT" | "NOTED_HEARTBEAT", number: number | string) {
  return { pk: partitionKeyOf(kind, number), sk: "#HEARTBEAT" };
}

/** Writes a heartbeat under every key. Each must differ from the last: a write without a change isn't in the stream. */
export async function writeHeartbeats({ dynamodb, environment, clock }: RuntimeWith<"workItems">): Promise<void> {
  await mapConcurrently(heartbeatNumbers, CONCURRENT_WRITES, async (number) => {
    const Item = { ...keyOf("HEARTBEAT", number), at: isoTime(clock()) };
    await dynamodb.send(new PutCommand({ TableName: environment.WORK_ITEMS_TABLE, Item }));
  });
}

/** Notes when the last heartbeats were created before which all records are in the queue. */
export function createHeartbeatNotes({ dynamodb, environment, clock }: RuntimeWith<"changes">) {
  const table = environment.CHANGES_TABLE;

  const read = async (numbers: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    const keys = numbers.map((number) => keyOf("NOTED_HEARTBEAT", number));
    const records = await batchGet(dynamodb, table, keys);
    return new Map(
      records.flatMap(({ pk, created }) =>
        // A damaged note counts as none: the next heartbeat replaces it.
        Number.isSafeInteger(created) ? [[String(pk).split("#")[1] ?? "", created as number]] : [],
      ),
    );
  };

  /**
   * Reads the time before which every write is in the queue or the logs, in milliseconds since the epoch; undefined until
   * every key has a noted heartbeat.
   */
  const readComplete = async (): Promise<number | undefined> => {
    const noted = await read(heartbeatNumbers.map(String));
    return noted.size < HEARTBEAT_KEYS ? undefined : Math.min(...noted.values());
  };

  return {
    /**
     * Reads when the last noted heartbeat of each key was created.
     * @returns milliseconds since the epoch by number
     */
    read,
    readComplete,
    /**
     * Reads how many seconds the oldest change may have waited to get into the queue: while a key has no noted heartbeat, as
     * long as the stream keeps changes.
     */
    readAgeSeconds: async (): Promise<number> => {
      const complete = await readComplete();
      return (complete === undefined ? STREAM_KEEPS_MS : clock() - complete) / 1000;
    },
    /** Notes when a key's heartbeat was created. @param created milliseconds since the epoch */
    note: async (number: string, created: number): Promise<void> => {
      await dynamodb.send(new PutCommand({ TableName: table, Item: { ...keyOf("NOTED_HEARTBEAT", number), created } }));
    },
  };
}
