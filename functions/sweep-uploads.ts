import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { Context, ScheduledEvent } from "aws-lambda";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { createS3Client } from "../lib/aws/s3-client.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createChunkSender, createJobSender } from "../lib/uploads/chain/messages.ts";
import { createSweep } from "../lib/uploads/chain/sweep.ts";
import { createUploads } from "../lib/uploads/chain/worker-dependencies.ts";
import { worker } from "../lib/store/data-version.ts";
import { workers } from "./workers.ts";

/** Reserved at the end of the function's time for the job that it is checking. */
const MARGIN_MS = 30_000;

/** Checks all open upload jobs that are due, once a minute. */
export const { create, handler } = worker(
  workers.sweepUploads.permissions,
  { dynamodb: createDynamoDbClient, s3: createS3Client, sqs: createSqsClient },
  (runtime) => {
    const { clock, sqs, environment } = runtime;
    const metrics = new Metrics();
    const sweep = createSweep({
      ...createUploads(runtime),
      sendSplit: createJobSender(sqs, environment.SPLIT_QUEUE_URL),
      sendChunks: createChunkSender(runtime),
    });
    return async (_event: Partial<ScheduledEvent>, context: Context): Promise<void> => {
      const { jobSeconds, fileSeconds } = await sweep(clock() + context.getRemainingTimeInMillis() - MARGIN_MS);
      metrics.addMetric("JobAgeSeconds", MetricUnit.Seconds, jobSeconds);
      metrics.addMetric("FileWaitSeconds", MetricUnit.Seconds, fileSeconds);
      metrics.publishStoredMetrics();
    };
  },
);
