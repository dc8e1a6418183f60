import { type QueueWorker, queueWorker } from "../lib/aws/queue-worker.ts";
import { createSendAgain } from "../lib/aws/send-again.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createS3Client } from "../lib/aws/s3-client.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createUploads } from "../lib/uploads/uploads.ts";
import { createSplitUpload } from "../lib/uploads/workers/split-upload.ts";
import {
  createPartSender,
  createSplitSender,
  parseSplitMessage,
  type SplitMessage,
} from "../lib/uploads/workers/upload-messages.ts";
import { workers } from "./workers.ts";

const worker = workers.splitUpload;

/** Splits the uploaded file that each message of the split queue names. */
export function create(runtime: Runtime<typeof worker.permissions>): QueueWorker {
  const sendSplit = createSplitSender(runtime);
  const sendParts = createPartSender(runtime);
  const uploads = createUploads(runtime);
  const split = createSplitUpload({ ...runtime, ...uploads, sendSplit, sendParts });
  /**
   * S3's own messages have no group: in the group of the organization, its files don't delay those of others. The sweep
   * looks soon if this message is lost.
   */
  const sendOn = async (job: SplitMessage): Promise<void> => {
    await uploads.store.openUploads.watch(job);
    await sendSplit(job);
  };
  const handle = async (body: string, handOverAt: number): Promise<void> => {
    const { splits, isFromS3 } = parseSplitMessage(body);
    for (const job of splits) await (isFromS3 ? sendOn(job) : split(job, handOverAt));
  };
  return queueWorker(runtime, handle, createSendAgain(runtime.sqs, runtime.environment.SPLIT_QUEUE_URL));
}

export const handler = lambda(
  worker.permissions,
  { dynamodb: createDynamoDbClient, s3: createS3Client, sqs: createSqsClient },
  create,
);
