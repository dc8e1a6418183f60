import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { type QueueWorker, queueWorker } from "../lib/aws/queue-worker.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createSendAgain } from "../lib/aws/send-messages.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createDeliver } from "../lib/webhooks/deliver.ts";
import { workers } from "./workers.ts";

const worker = workers.deliverWebhooks;

/** Notes news for webhooks, and calls their endpoints. */
export function create(runtime: Runtime<typeof worker.permissions>): QueueWorker {
  const { sqs, environment } = runtime;
  return queueWorker(runtime, createDeliver(runtime), createSendAgain(sqs, environment.WEBHOOKS_QUEUE_URL));
}

export const handler = lambda(worker.permissions, { dynamodb: createDynamoDbClient, sqs: createSqsClient }, create);
