import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createAccessStore } from "../lib/organizations/access-store.ts";
import { createApplyRows } from "../lib/uploads/apply-rows.ts";
import { createApplyPart } from "../lib/uploads/apply-upload-part.ts";
import { createWriteReport } from "../lib/uploads/failed-rows.ts";
import { type QueueWorker, queueWorker } from "../lib/uploads/queue-worker.ts";
import { createSettleUpload } from "../lib/uploads/settle-upload.ts";
import { createPartSender, parsePartMessage } from "../lib/uploads/upload-messages.ts";
import { createUploadObjects } from "../lib/uploads/upload-objects.ts";
import { createUploadStore } from "../lib/uploads/upload-store.ts";
import { createApplyWorkItems } from "../lib/work-items/apply-work-items.ts";
import { workers } from "./workers.ts";

const worker = workers.applyUploadPart;

export const create = (runtime: Runtime<typeof worker.touches>): QueueWorker => {
  const { environment, dynamodb, s3, sqs, clock } = runtime;
  const metrics = new Metrics({ namespace: "WorkItems" });
  const access = createAccessStore(runtime);
  const store = createUploadStore(dynamodb, environment.WORK_ITEMS_TABLE, clock);
  const objects = createUploadObjects(s3, environment.UPLOADS_BUCKET);
  const apply = createApplyPart({
    ...runtime,
    store,
    objects,
    findOrganization: (id) => access.findOrganization(id),
    applyRows: createApplyRows(createApplyWorkItems(runtime), clock),
    sendParts: createPartSender(sqs, environment.PARTS_QUEUE_URL),
    settle: createSettleUpload(store, createWriteReport(s3, environment.UPLOADS_BUCKET, objects), clock),
    onEnd: (rows, job) => {
      metrics.addMetric("RowsApplied", MetricUnit.Count, rows);
      metrics.addMetric("JobAgeSeconds", MetricUnit.Seconds, (clock() - Date.parse(job.created_at)) / 1000);
      metrics.publishStoredMetrics();
    },
  });
  return queueWorker(runtime, (body, handOverAt) => apply(parsePartMessage(body), handOverAt));
};

export const handler = lambda(worker.touches, create);
