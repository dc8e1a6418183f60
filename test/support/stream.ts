import { randomUUID } from "node:crypto";
import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { DynamoDBRecord, DynamoDBStreamEvent } from "aws-lambda";
import { create as createRecordChanges } from "../../functions/record-changes.ts";
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { iteratorAfter, readShard, shardsOf } from "../../apps/local/workers/stream.ts";
import { createQueueDelivery } from "./changes-queue.ts";
import { lambdaContext } from "./lambda-context.ts";
import type { TestRuntime } from "./runtime.ts";

const RECORDS_PER_READ = 1000;
const WORKER_MS = 60_000;

/** The records of the stream of a runtime's table, as the engine has them. */
export async function openStream({ environment }: TestRuntime) {
  const client = new DynamoDBClient({});
  const { Table } = await client.send(new DescribeTableCommand({ TableName: environment.WORK_ITEMS_TABLE }));
  client.destroy();
  const streamArn = Table?.LatestStreamArn ?? "";
  const streams = new DynamoDBStreamsClient({});
  const iterators = new Map<string, string | undefined>();

  return {
    /** Reads the records that were not read before and are of items, heartbeats or upload jobs, as the event source's filter lets through. */
    take: async (): Promise<DynamoDBRecord[]> => {
      const taken: DynamoDBRecord[] = [];
      for (const { ShardId: shard = "" } of await shardsOf(streams, streamArn)) {
        if (!iterators.has(shard)) {
          const place = { StreamArn: streamArn, ShardId: shard };
          iterators.set(shard, await iteratorAfter(streams, place, undefined));
        }
        for (let iterator = iterators.get(shard); iterator !== undefined;) {
          const { records, next } = await readShard(streams, iterator, RECORDS_PER_READ);
          taken.push(...records);
          iterators.set(shard, next);
          iterator = records.length === 0 ? undefined : next;
        }
      }
      return taken.filter(({ dynamodb: { Keys: keys = {} } = {} }) =>
        /^(ITEM#|HEARTBEAT#|UPLOAD#.*\n#JOB$)/.test(`${keys["pk"]?.S}\n${keys["sk"]?.S}`),
      );
    },
  };
}

/** The event that Lambda makes of records. */
export const streamEvent = (...Records: DynamoDBRecord[]): DynamoDBStreamEvent => ({ Records });

/** A record of the stream. @param createdAt milliseconds since the epoch */
export const streamRecord = (partitionKey: string, createdAt: number, sequence = partitionKey): DynamoDBRecord => ({
  eventID: randomUUID().replaceAll("-", ""),
  eventName: "MODIFY",
  dynamodb: {
    Keys: { pk: { S: partitionKey }, sk: { S: "#" } },
    SequenceNumber: sequence,
    ApproximateCreationDateTime: Math.floor(createdAt / 1000),
  },
});

/**
 * Makes the function that reads what was written to a runtime's table since it was last read. The engine knows no other
 * time than that of the machine, so records get that of the runtime.
 */
export async function openStreamReader(runtime: TestRuntime) {
  const stream = await openStream(runtime);
  return async (): Promise<DynamoDBRecord[]> =>
    (await stream.take()).map((one) => ({
      ...one,
      dynamodb: { ...one.dynamodb, ApproximateCreationDateTime: Math.floor(runtime.clock() / 1000) },
    }));
}

/**
 * Makes the function that takes everything that was written to a runtime's table to the change logs: to `record-changes`,
 * and from the queue to `append-changes`.
 */
export async function createDelivery(runtime: TestRuntime) {
  const readStream = await openStreamReader(runtime);
  const record = createRecordChanges(runtime);
  const queue = createQueueDelivery(runtime);
  return async (): Promise<void> => {
    const records = await readStream();
    if (records.length === 0) return;
    const { batchItemFailures } = await record(streamEvent(...records), lambdaContext(WORKER_MS));
    if (batchItemFailures.length > 0) throw new Error("changes are not in the queue");
    if ((await queue.drain()) > 0) throw new Error("changes are not in the log");
  };
}
