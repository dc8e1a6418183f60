import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createWriteReport } from "../lib/uploads/failed-rows.ts";
import { type QueueWorker, queueWorker } from "../lib/uploads/queue-worker.ts";
import { createSettleUpload } from "../lib/uploads/settle-upload.ts";
import { createSplitUpload } from "../lib/uploads/split-upload.ts";
import { createPartSender, createSplitSender, parseSplitMessage } from "../lib/uploads/upload-messages.ts";
import { createUploadObjects } from "../lib/uploads/upload-objects.ts";
import { createUploadStore } from "../lib/uploads/upload-store.ts";
import { workers } from "./workers.ts";

const worker = workers.splitUpload;

export const create = (runtime: Runtime<typeof worker.touches>): QueueWorker => {
  const { environment, dynamodb, s3, sqs, clock } = runtime;
  const store = createUploadStore(dynamodb, environment.WORK_ITEMS_TABLE, clock);
  const objects = createUploadObjects(s3, environment.UPLOADS_BUCKET);
  const split = createSplitUpload({
    ...runtime,
    store,
    objects,
    sendSplit: createSplitSender(sqs, environment.SPLIT_QUEUE_URL),
    sendParts: createPartSender(sqs, environment.PARTS_QUEUE_URL),
    settle: createSettleUpload(store, createWriteReport(s3, environment.UPLOADS_BUCKET, objects), clock),
  });
  return queueWorker(runtime, async (body, handOverAt) => {
    for (const job of parseSplitMessage(body)) await split(job, handOverAt);
  });
};

export const handler = lambda(worker.touches, create);
