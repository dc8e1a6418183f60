import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { Context, ScheduledEvent } from "aws-lambda";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { createEraseExpired } from "../lib/retention/retention-run.ts";
import { worker } from "../lib/store/data-version.ts";
import { workers } from "./workers.ts";

/** Reserved at the end of the function's time for running requests. */
const MARGIN_MS = 15_000;

/** Erases work items after the time for which their organization keeps them. */
export const { create, handler } = worker(
  workers.eraseExpired.permissions,
  { dynamodb: createDynamoDbClient },
  (runtime) => {
    const metrics = new Metrics();
    const eraseExpired = createEraseExpired(runtime);
    return async (_event: Partial<ScheduledEvent>, context: Context): Promise<void> => {
      // A failed run may leave items of any organization.
      let unfinished = 1;
      try {
        unfinished = await eraseExpired(runtime.clock() + context.getRemainingTimeInMillis() - MARGIN_MS);
      } finally {
        metrics.addMetric("RetentionUnfinished", MetricUnit.Count, unfinished);
        metrics.publishStoredMetrics();
      }
    };
  },
);
