import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { Context, ScheduledEvent } from "aws-lambda";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createHeartbeatNotes } from "../lib/changes/heartbeats.ts";
import { createSweepChanges } from "../lib/changes/change-sweep.ts";
import { createNotifyWebhooks } from "../lib/webhooks/notify-webhooks.ts";
import { worker } from "../lib/store/data-version.ts";
import { workers } from "./workers.ts";

/** Reserved at the end of the function's time for the log that it is writing. */
const MARGIN_MS = 30_000;

/** Measures how old the last noted heartbeats are, writes the next, and puts gaps into logs that may lack changes. */
export const { create, handler } = worker(
  workers.sweepChanges.permissions,
  { dynamodb: createDynamoDbClient, sqs: createSqsClient },
  (runtime) => {
    const metrics = new Metrics();
    const { readAgeSeconds } = createHeartbeatNotes(runtime);
    const sweep = createSweepChanges(runtime, createNotifyWebhooks(runtime));
    return async (_event: Partial<ScheduledEvent>, context: Context): Promise<void> => {
      const until = runtime.clock() + context.getRemainingTimeInMillis() - MARGIN_MS;
      // Before the next heartbeats are written: the noted ones are from the last sweep.
      metrics.addMetric("ChangeAgeSeconds", MetricUnit.Seconds, await readAgeSeconds());
      metrics.publishStoredMetrics();
      await sweep(until);
    };
  },
);
