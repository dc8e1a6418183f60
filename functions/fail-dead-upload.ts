import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createFailDeadUpload } from "../lib/uploads/fail-dead-upload.ts";
import { createWriteReport } from "../lib/uploads/failed-rows.ts";
import { type QueueWorker, queueWorker } from "../lib/uploads/queue-worker.ts";
import { createSettleUpload } from "../lib/uploads/settle-upload.ts";
import { createUploadObjects } from "../lib/uploads/upload-objects.ts";
import { createUploadStore } from "../lib/uploads/upload-store.ts";
import { workers } from "./workers.ts";

const worker = workers.failDeadUpload;

export const create = (runtime: Runtime<typeof worker.touches>): QueueWorker => {
  const { environment, dynamodb, s3, clock } = runtime;
  const store = createUploadStore(dynamodb, environment.WORK_ITEMS_TABLE, clock);
  const objects = createUploadObjects(s3, environment.UPLOADS_BUCKET);
  const settle = createSettleUpload(store, createWriteReport(s3, environment.UPLOADS_BUCKET, objects), clock);
  return queueWorker(runtime, createFailDeadUpload({ ...runtime, store, settle }));
};

export const handler = lambda(worker.touches, create);
