import { type QueueWorker, queueWorker } from "../lib/aws/queue-worker.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createS3Client } from "../lib/aws/s3-client.ts";
import { createUploads } from "../lib/uploads/uploads.ts";
import { createFailDeadUpload } from "../lib/uploads/workers/fail-dead-upload.ts";
import { workers } from "./workers.ts";

const worker = workers.failDeadUpload;

/** Ends the upload job that each dead letter names. */
export function create(runtime: Runtime<typeof worker.permissions>): QueueWorker {
  return queueWorker(runtime, createFailDeadUpload({ ...runtime, ...createUploads(runtime) }));
}

export const handler = lambda(worker.permissions, { dynamodb: createDynamoDbClient, s3: createS3Client }, create);
