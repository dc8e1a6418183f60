import type { Context, ScheduledEvent } from "aws-lambda";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda } from "../lib/aws/runtime.ts";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { createSweepChanges } from "../lib/changes/sweep-changes.ts";
import { createRing } from "../lib/webhooks/ring.ts";
import { workers } from "./workers.ts";

/** Reserved at the end of the function's time, for the log that it is writing. */
const MARGIN_MS = 30_000;

/** Writes the heartbeats of the stream, and puts holes into logs that may lack changes. */
export const { create, handler } = lambda(
  workers.sweepChanges.permissions,
  { dynamodb: createDynamoDbClient, sqs: createSqsClient },
  (runtime) => {
    const sweep = createSweepChanges(runtime, createRing(runtime));
    return (_event: Partial<ScheduledEvent>, context: Context): Promise<void> =>
      sweep(runtime.clock() + context.getRemainingTimeInMillis() - MARGIN_MS);
  },
);
