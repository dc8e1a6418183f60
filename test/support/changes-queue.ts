import { createHash, randomUUID } from "node:crypto";
import {
  type ChangeMessageVisibilityBatchCommandInput,
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  type SendMessageBatchRequestEntry,
} from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { create as createAppendChanges } from "../../functions/append-changes.ts";
import { toRecord } from "../../apps/local/workers/queue.ts";
import { aroundRequests } from "./faults.ts";
import { lambdaContext } from "./lambda-context.ts";
import type { TestRuntime } from "./runtime.ts";

const APPENDER_MS = 30_000;
const BATCH = 10;
/** Longer than any test. */
const HIDDEN_SECONDS = 3600;

/** SQS's outcomes for messages that it has taken. The SDK compares the hashes. */
export const sentOutcomes = (entries: readonly SendMessageBatchRequestEntry[]) =>
  entries.map(({ Id, MessageBody = "" }) => ({
    Id,
    MessageId: randomUUID(),
    MD5OfMessageBody: createHash("md5").update(MessageBody).digest("hex"),
  }));

/**
 * The queue of changes of a runtime, and the function that takes their messages as Lambda does.
 * @param handle takes the events instead of `append-changes` of the same runtime
 */
export function createQueueDelivery(runtime: TestRuntime, handle?: (event: SQSEvent) => Promise<SQSBatchResponse>) {
  const { sqs, environment, clock } = runtime;
  const { CHANGES_QUEUE_URL: QueueUrl } = environment;
  const create = () => {
    const append = createAppendChanges(runtime);
    return (event: SQSEvent) => append(event, lambdaContext(APPENDER_MS, clock));
  };
  const append = handle ?? create();
  let delayed: string[] = [];
  // The queue has the machine's clock: on a busy one a delay could end while the queue is drained.
  aroundRequests(
    sqs,
    (command, { Entries = [], ...input }: ChangeMessageVisibilityBatchCommandInput, send) =>
      command === "ChangeMessageVisibilityBatchCommand"
        ? send({ ...input, Entries: Entries.map((entry) => ({ ...entry, VisibilityTimeout: HIDDEN_SECONDS })) })
        : send(),
    "low",
  );

  const receive = async (): Promise<SQSRecord[]> => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: BATCH,
        MessageSystemAttributeNames: ["All"],
        VisibilityTimeout: HIDDEN_SECONDS,
      }),
    );
    return Messages.map((message) => toRecord(message, QueueUrl));
  };
  const remove = async (records: readonly SQSRecord[]): Promise<void> => {
    if (records.length === 0) return;
    const Entries = records.map(({ receiptHandle: ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  };
  /** Gives records to the function. @returns those that failed */
  const invoke = async (records: readonly SQSRecord[]): Promise<readonly SQSRecord[]> => {
    const { batchItemFailures } = await append({ Records: [...records] });
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    return records.filter(({ messageId }) => failed.has(messageId));
  };
  /** Takes one batch, and removes what is done with. @returns how many messages it had, and how many failed */
  const takeBatch = async () => {
    const records = await receive();
    if (records.length === 0) return { taken: 0, failed: 0 };
    const failed = await invoke(records);
    delayed.push(...failed.map(({ receiptHandle }) => receiptHandle));
    await remove(records.filter((record) => !failed.includes(record)));
    return { taken: records.length, failed: failed.length };
  };
  /** How many messages it has, visible or not. */
  const waiting = async (): Promise<number> => {
    const AttributeNames = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"] as const;
    const { Attributes = {} } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...AttributeNames] }),
    );
    return Object.values(Attributes).reduce((sum, each) => sum + Number(each), 0);
  };

  return {
    receive,
    invoke,
    takeBatch,
    waiting,
    /** Makes failed messages visible now, and not when the function has said: tests don't wait. */
    endDelays: async (): Promise<void> => {
      for (const ReceiptHandle of delayed) {
        await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
      }
      delayed = [];
    },
    /** Takes what is visible in the queue of changes. @returns how many messages have failed */
    drain: async (): Promise<number> => {
      let failed = 0;
      for (let taken = 1; taken > 0;) {
        const batch = await takeBatch();
        [taken, failed] = [batch.taken, failed + batch.failed];
      }
      return failed;
    },
  };
}
