import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { type StreamWorker, streamWorker } from "../lib/aws/stream-worker.ts";
import { createRecordChanges } from "../lib/changes/record-changes.ts";
import { workers } from "./workers.ts";

const worker = workers.recordChanges;

/** Puts the keys of written work items into the change logs of their organizations. */
export function create(runtime: Runtime<typeof worker.permissions>): StreamWorker {
  return streamWorker(runtime, createRecordChanges(runtime));
}

export const handler = lambda(worker.permissions, { dynamodb: createDynamoDbClient }, create);
