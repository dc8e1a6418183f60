import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import { createAccessStore } from "../lib/organizations/access-store.ts";
import { type QueueWorker, queueWorker } from "../lib/aws/queue-worker.ts";
import { createSendAgain } from "../lib/aws/send-again.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createS3Client } from "../lib/aws/s3-client.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createFindEndedJobs } from "../lib/uploads/job/ended-jobs.ts";
import { createUploads } from "../lib/uploads/uploads.ts";
import { createApplyRows } from "../lib/uploads/workers/apply-rows.ts";
import { createApplyPart } from "../lib/uploads/workers/apply-upload-part.ts";
import { createPartSender } from "../lib/uploads/workers/upload-messages.ts";
import { createApplyWorkItems } from "../lib/work-items/apply-work-items.ts";
import { workers } from "./workers.ts";

const worker = workers.applyUploadPart;

/** Applies the upload part that each message of the parts queue names. */
export function create(runtime: Runtime<typeof worker.permissions>): QueueWorker {
  const { clock } = runtime;
  const metrics = new Metrics({ namespace: "WorkItems" });
  const access = createAccessStore(runtime);
  const apply = createApplyPart({
    ...runtime,
    ...createUploads(runtime),
    findOrganization: (id) => access.findOrganization(id),
    findEndedJobs: createFindEndedJobs(runtime),
    applyRows: createApplyRows(createApplyWorkItems(runtime), clock),
    sendParts: createPartSender(runtime),
    onEnd: (rows, job) => {
      metrics.addMetric("RowsApplied", MetricUnit.Count, rows);
      metrics.addMetric("JobAgeSeconds", MetricUnit.Seconds, (clock() - Date.parse(job.created_at)) / 1000);
      metrics.publishStoredMetrics();
    },
  });
  return queueWorker(runtime, apply, createSendAgain(runtime.sqs, runtime.environment.PARTS_QUEUE_URL));
}

export const handler = lambda(
  worker.permissions,
  { dynamodb: createDynamoDbClient, s3: createS3Client, sqs: createSqsClient },
  create,
);
