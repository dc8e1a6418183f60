import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { queueWorker } from "../lib/aws/queue-worker.ts";
import { createS3Client } from "../lib/aws/s3-client.ts";
import { createSendAgain } from "../lib/aws/send-messages.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createApplyChunk } from "../lib/uploads/chain/apply-chunk.ts";
import { createFinishUpload, createSettleShard } from "../lib/uploads/chain/finish.ts";
import { createChunkSender, createJobSender } from "../lib/uploads/chain/messages.ts";
import { createWriteList } from "../lib/uploads/files/write-list.ts";
import { runningSeconds } from "../lib/uploads/job/upload-record.ts";
import { createRowUploads } from "../lib/uploads/chain/worker-dependencies.ts";
import { worker } from "../lib/store/data-version.ts";
import { workers } from "./workers.ts";

/** Applies the chunk that each message of the chunks queue names. */
export const { create, handler } = worker(
  workers.applyUploadChunk.permissions,
  { dynamodb: createDynamoDbClient, s3: createS3Client, sqs: createSqsClient },
  (runtime) => {
    const { clock, sqs, environment } = runtime;
    const metrics = new Metrics();
    const uploads = createRowUploads(runtime);
    const apply = createApplyChunk({
      ...uploads,
      sendChunks: createChunkSender(runtime),
      finish: createFinishUpload({
        ...uploads,
        writeList: createWriteList(runtime, uploads.objects),
        rowWorker: {
          settle: createSettleShard(uploads),
          sendSplit: createJobSender(sqs, environment.SPLIT_QUEUE_URL),
        },
      }),
      onEnd: (rows, job) => {
        metrics.addMetric("RowsApplied", MetricUnit.Count, rows);
        metrics.addMetric("JobAgeSeconds", MetricUnit.Seconds, runningSeconds(job, clock()));
        metrics.publishStoredMetrics();
      },
    });
    return queueWorker(runtime, apply, createSendAgain(sqs, environment.CHUNKS_QUEUE_URL));
  },
);
