import { randomUUID } from "node:crypto";
import type { SendMessageBatchCommandInput } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import { create as createAppendChanges } from "../../functions/append-changes.ts";
import { create as createRecordChanges } from "../../functions/record-changes.ts";
import { chunksOf, mapConcurrently } from "../../lib/retry.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { createTestOrganization } from "../support/organization.ts";
import { createTestRuntime } from "../support/runtime.ts";
import { sentOutcomes } from "../support/changes-queue.ts";
import { streamEvent, streamRecord } from "../support/stream.ts";
import { meterDynamoDb } from "./dynamodb-meter.ts";

const WORKER_MS = 60_000;
const SHARDS_AT_ONCE = 20;
/** The most messages that Lambda takes from a FIFO queue at once. */
const BATCH_MAX = 10;

/**
 * What it costs to log changes of one organization that are on many shards. The recorder and the appender are real; the
 * queue is simulated as SQS serves a FIFO queue, with full batches, one at a time for each group.
 */
export async function logFromShards(shards: number, rounds: number, changesInBatch: number) {
  const runtime = await createTestRuntime();
  const { organization } = await createTestOrganization(runtime);
  const group: SQSRecord[] = [];
  runtime.sqs.middlewareStack.add(
    (next, context) => (request) => {
      if (context.commandName !== "SendMessageBatchCommand") return next(request);
      const { Entries = [] } = request.input as SendMessageBatchCommandInput;
      for (const { MessageBody: body = "", MessageGroupId: id = "" } of Entries) {
        const attributes = { ApproximateReceiveCount: "1", MessageGroupId: id } as SQSRecord["attributes"];
        group.push({ messageId: randomUUID(), receiptHandle: "", body, attributes, eventSourceARN: "" } as SQSRecord);
      }
      return Promise.resolve({ output: { Successful: sentOutcomes(Entries) } as never, response: {} });
    },
    { step: "serialize", name: "queueInMemory" },
  );
  let [puts, lost] = [0, 0];
  runtime.dynamodb.middlewareStack.add(
    (next, context) => async (request) => {
      if (context.commandName === "PutItemCommand") puts += 1;
      return next(request).catch((error: unknown) => {
        if ((error as Error).name === "ConditionalCheckFailedException") lost += 1;
        throw error;
      });
    },
    { step: "initialize", name: "countPuts" },
  );
  const record = createRecordChanges(runtime);
  const append = createAppendChanges(runtime);
  const meter = meterDynamoDb(runtime, "CHANGES_TABLE");
  const { writeUnits } = await meter(async () => {
    for (let round = 0; round < rounds; round++) {
      await mapConcurrently(Array.from({ length: shards }), SHARDS_AT_ONCE, async () => {
        const records = Array.from({ length: changesInBatch }, () =>
          streamRecord(`ITEM#${organization.id}#${randomUUID()}`, Date.now()),
        );
        await record(streamEvent(...records), lambdaContext(WORKER_MS));
      });
      for (const Records of chunksOf(group.splice(0), BATCH_MAX)) {
        const { batchItemFailures } = await append({ Records }, lambdaContext(WORKER_MS));
        if (batchItemFailures.length > 0) throw new Error("changes are not in the log");
      }
    }
  });
  return { lostPercent: (100 * lost) / puts, units: writeUnits / (shards * rounds * changesInBatch) };
}
