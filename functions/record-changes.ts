import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { type StreamWorker, streamWorker } from "../lib/aws/stream-worker.ts";
import { createRecordChanges } from "../lib/changes/record-changes.ts";
import { workers } from "./workers.ts";

const worker = workers.recordChanges;

/** Sends the keys of written work items to the queue of the change logs. */
export function create(runtime: Runtime<typeof worker.permissions>): StreamWorker {
  return streamWorker(createRecordChanges(runtime));
}

export const handler = lambda(worker.permissions, { dynamodb: createDynamoDbClient, sqs: createSqsClient }, create);
