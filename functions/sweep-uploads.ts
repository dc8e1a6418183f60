import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { Context, ScheduledEvent } from "aws-lambda";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createWriteReport } from "../lib/uploads/failed-rows.ts";
import { createSettleUpload } from "../lib/uploads/settle-upload.ts";
import { createSweepUploads } from "../lib/uploads/sweep-uploads.ts";
import { createPartSender, createSplitSender } from "../lib/uploads/upload-messages.ts";
import { createUploadObjects } from "../lib/uploads/upload-objects.ts";
import { createUploadStore } from "../lib/uploads/upload-store.ts";
import { workers } from "./workers.ts";

const worker = workers.sweepUploads;

/** Kept from the function's time for the job that is being looked at. */
const MARGIN_MS = 30_000;

export const create = (runtime: Runtime<typeof worker.touches>) => {
  const { environment, dynamodb, s3, sqs, clock } = runtime;
  const metrics = new Metrics({ namespace: "WorkItems" });
  const store = createUploadStore(dynamodb, environment.WORK_ITEMS_TABLE, clock);
  const objects = createUploadObjects(s3, environment.UPLOADS_BUCKET);
  const sweep = createSweepUploads({
    ...runtime,
    store,
    objects,
    sendSplit: createSplitSender(sqs, environment.SPLIT_QUEUE_URL),
    sendParts: createPartSender(sqs, environment.PARTS_QUEUE_URL),
    settle: createSettleUpload(store, createWriteReport(s3, environment.UPLOADS_BUCKET, objects), clock),
  });
  return async (_event: Partial<ScheduledEvent>, context: Context): Promise<void> => {
    const oldest = await sweep(clock() + context.getRemainingTimeInMillis() - MARGIN_MS);
    metrics.addMetric("JobAgeSeconds", MetricUnit.Seconds, oldest);
    metrics.publishStoredMetrics();
  };
};

export const handler = lambda(worker.touches, create);
