import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda } from "../lib/aws/runtime.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createAppendChanges } from "../lib/changes/change-queue-worker.ts";
import { createReadEndedJobs, createNotifyWebhooks } from "../lib/webhooks/notify-webhooks.ts";
import { workers } from "./workers.ts";

/** Appends the changes in each message to the change log of its organization, and notifies its webhooks. */
export const { create, handler } = lambda(
  workers.appendChanges.permissions,
  { dynamodb: createDynamoDbClient, sqs: createSqsClient },
  (runtime) => createAppendChanges(runtime, createNotifyWebhooks(runtime, createReadEndedJobs(runtime))),
);
