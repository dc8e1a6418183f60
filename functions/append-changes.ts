import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createAppendChanges } from "../lib/changes/change-queue-worker.ts";
import { createReadEndedJobs, createNotifyWebhooks } from "../lib/webhooks/notify-webhooks.ts";
import { worker } from "../lib/store/data-version.ts";
import { workers } from "./workers.ts";

/** Appends the changes in each message to the change log of its organization, and notifies its webhooks. */
export const { create, handler } = worker(
  workers.appendChanges.permissions,
  { dynamodb: createDynamoDbClient, sqs: createSqsClient },
  (runtime) => createAppendChanges(runtime, createNotifyWebhooks(runtime, createReadEndedJobs(runtime))),
);
