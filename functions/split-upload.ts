import { createAccessStore } from "../lib/organizations/access-store.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { queueWorker } from "../lib/aws/queue-worker.ts";
import { createS3Client } from "../lib/aws/s3-client.ts";
import { createSendAgain } from "../lib/aws/send-messages.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createFinishUpload } from "../lib/uploads/chain/finish.ts";
import { createChunkSender, createJobSender, type JobMessage, parseJobMessage } from "../lib/uploads/chain/messages.ts";
import { createSplitUpload } from "../lib/uploads/chain/split.ts";
import { createWriteList } from "../lib/uploads/files/write-list.ts";
import { createUploads } from "../lib/uploads/chain/worker-dependencies.ts";
import { worker } from "../lib/store/data-version.ts";
import { workers } from "./workers.ts";

/** Splits the uploaded file that each message of the split queue names into chunks, or merges its job's lists at the end. */
export const { create, handler } = worker(
  workers.splitUpload.permissions,
  { dynamodb: createDynamoDbClient, s3: createS3Client, sqs: createSqsClient },
  (runtime) => {
    const { sqs, environment } = runtime;
    const { findOrganization } = createAccessStore(runtime);
    const sendSplit = createJobSender(sqs, environment.SPLIT_QUEUE_URL);
    const uploads = createUploads(runtime);
    const split = createSplitUpload({
      ...uploads,
      findOrganization: (id) => findOrganization(id, { consistent: true }),
      sendSplit,
      sendChunks: createChunkSender(runtime),
      finish: createFinishUpload({ ...uploads, writeList: createWriteList(runtime, uploads.objects) }),
    });
    /**
     * S3's own messages have no group. In the organization's group, its files don't delay those of others. The sweep checks
     * the job soon in case this message is lost.
     */
    const sendOn = async (job: JobMessage): Promise<void> => {
      await uploads.store.watch(job);
      await sendSplit(job);
    };
    const handle = async (body: string, handOverAt: number): Promise<void> => {
      const { jobs, isFromS3 } = parseJobMessage(body);
      for (const job of jobs) await (isFromS3 ? sendOn(job) : split(job, handOverAt));
    };
    return queueWorker(runtime, handle, createSendAgain(sqs, environment.SPLIT_QUEUE_URL));
  },
);
