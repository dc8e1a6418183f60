import { createAccessStore } from "../lib/organizations/access-store.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { queueWorker } from "../lib/aws/queue-worker.ts";
import { lambda } from "../lib/aws/runtime.ts";
import { createS3Client } from "../lib/aws/s3-client.ts";
import { createSendAgain } from "../lib/aws/send-messages.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createFinishUpload } from "../lib/uploads/chain/finish.ts";
import { createChunkSender, createJobSender, parseJobMessage } from "../lib/uploads/chain/messages.ts";
import { createSplitUpload } from "../lib/uploads/chain/split.ts";
import { createWriteList } from "../lib/uploads/files/write-list.ts";
import { isEnded } from "../lib/uploads/job/upload-record.ts";
import { createUploads } from "../lib/uploads/worker-dependencies.ts";
import { workers } from "./workers.ts";

/** Puts large files into chunks, and merges their lists of rows: work of minutes, which small files don't wait for. */
export const { create, handler } = lambda(
  workers.splitLargeUpload.permissions,
  { dynamodb: createDynamoDbClient, s3: createS3Client, sqs: createSqsClient },
  (runtime) => {
    const { sqs, environment } = runtime;
    const uploads = createUploads(runtime);
    const { findOrganization } = createAccessStore(runtime);
    const sendSplit = createJobSender(sqs, environment.LARGE_SPLIT_QUEUE_URL);
    const split = createSplitUpload({
      ...uploads,
      findOrganization: (id) => findOrganization(id, { consistent: true }),
      sendSplit,
      sendChunks: createChunkSender(runtime),
    });
    const finish = createFinishUpload({ ...uploads, writeList: createWriteList(runtime, uploads.objects) });
    const handle = async (body: string, handOverAt: number): Promise<void> => {
      for (const message of parseJobMessage(body).jobs) {
        const snapshot = await uploads.store.read(message);
        if (snapshot?.job.chunks === undefined) await split(message);
        else if (!isEnded(snapshot.job)) await finish(snapshot, handOverAt);
      }
    };
    return queueWorker(runtime, handle, createSendAgain(sqs, environment.LARGE_SPLIT_QUEUE_URL));
  },
);
