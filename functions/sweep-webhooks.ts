import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { ScheduledEvent } from "aws-lambda";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createSweepWebhooks } from "../lib/webhooks/webhook-sweep.ts";
import { worker } from "../lib/store/data-version.ts";
import { workers } from "./workers.ts";

/** Sends messages for the webhooks for which something is due, and counts those that can't be reached, once a minute. */
export const { create, handler } = worker(
  workers.sweepWebhooks.permissions,
  { dynamodb: createDynamoDbClient, sqs: createSqsClient },
  (runtime) => {
    const metrics = new Metrics();
    const sweep = createSweepWebhooks(runtime);
    return async (_event: Partial<ScheduledEvent>): Promise<void> => {
      metrics.addMetric("OrganizationsUnreachable", MetricUnit.Count, await sweep());
      metrics.publishStoredMetrics();
    };
  },
);
