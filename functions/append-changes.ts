import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import type { QueueWorker } from "../lib/aws/queue-worker.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createAppendChanges } from "../lib/changes/append-changes.ts";
import { createReadEndedJobs } from "../lib/webhooks/read-ended-jobs.ts";
import { createRing } from "../lib/webhooks/ring.ts";
import { workers } from "./workers.ts";

const worker = workers.appendChanges;

/** Appends the changes in each message to the change log of its organization, and rings its webhooks. */
export function create(runtime: Runtime<typeof worker.permissions>): QueueWorker {
  return createAppendChanges(runtime, createRing(runtime, createReadEndedJobs(runtime)));
}

export const handler = lambda(worker.permissions, { dynamodb: createDynamoDbClient, sqs: createSqsClient }, create);
