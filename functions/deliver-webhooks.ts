import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { queueWorker } from "../lib/aws/queue-worker.ts";
import { createSendAgain } from "../lib/aws/send-messages.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createDeliver } from "../lib/webhooks/deliver.ts";
import { worker } from "../lib/store/data-version.ts";
import { workers } from "./workers.ts";

/** Notes news for webhooks, and calls their endpoints. */
export const { create, handler } = worker(
  workers.deliverWebhooks.permissions,
  { dynamodb: createDynamoDbClient, sqs: createSqsClient },
  (runtime) => {
    const { sqs, environment } = runtime;
    return queueWorker(runtime, createDeliver(runtime), createSendAgain(sqs, environment.WEBHOOKS_QUEUE_URL));
  },
);
