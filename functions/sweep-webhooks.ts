import type { ScheduledEvent } from "aws-lambda";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createSweepWebhooks } from "../lib/webhooks/sweep-webhooks.ts";
import { workers } from "./workers.ts";

const worker = workers.sweepWebhooks;

/** Sends messages for the webhooks for which something is due, once a minute. */
export function create(runtime: Runtime<typeof worker.permissions>) {
  const sweep = createSweepWebhooks(runtime);
  return async (_event: Partial<ScheduledEvent>): Promise<void> => sweep();
}

export const handler = lambda(worker.permissions, { dynamodb: createDynamoDbClient, sqs: createSqsClient }, create);
