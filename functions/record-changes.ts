import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { streamWorker } from "../lib/aws/stream-worker.ts";
import { createRecordChanges } from "../lib/changes/change-stream-worker.ts";
import { worker } from "../lib/store/data-version.ts";
import { workers } from "./workers.ts";

/** Sends the keys of written work items to the queue of the change logs. */
export const { create, handler } = worker(
  workers.recordChanges.permissions,
  { dynamodb: createDynamoDbClient, sqs: createSqsClient },
  (runtime) => streamWorker(createRecordChanges(runtime)),
);
