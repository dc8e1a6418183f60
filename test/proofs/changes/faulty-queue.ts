import { randomUUID } from "node:crypto";
import type {
  ChangeMessageVisibilityBatchCommandInput,
  SendMessageBatchCommandInput,
  SendMessageBatchRequestEntry,
} from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import { sentOutcomes } from "../../support/changes-queue.ts";
import type { TestClock } from "../../support/clock.ts";
import type { TestRuntime } from "../../support/runtime.ts";

const DEDUPLICATION_MS = 5 * 60_000;
const VISIBILITY_MS = 180_000;
export const APPENDER_MS = 30_000;
const BATCH_MAX = 10;
const REFUSED_SHARE = 0.05;
const DUPLICATE_SHARE = 0.1;

interface Message {
  readonly id: string;
  readonly group: string;
  readonly body: string;
  /** Of its last receive. An older one deletes nothing. */
  receipt: string;
  receives: number;
  /** It is in flight until then, in milliseconds since the epoch. */
  visibleAt: number;
}

/**
 * The two queues of changes on a test's clock, as SQS serves them: the first is a FIFO queue, which has one batch of a
 * group in flight and drops a message with a known deduplication id for five minutes; the second sends in any order, some
 * messages twice. Single messages are refused. Messages don't expire: here, days may pass between two tries.
 */
export function createFaultyQueues(runtime: TestRuntime, clock: TestClock, random: () => number, onFault: () => void) {
  const { CHANGES_QUEUE_URL: fifo, HELD_CHANGES_QUEUE_URL: held } = runtime.environment;
  const queues = new Map<string, Message[]>([
    [fifo, []],
    [held, []],
  ]);
  const sentAt = new Map<string, number>();
  let isCalm = false;

  const accept = (url: string, entry: SendMessageBatchRequestEntry): void => {
    const { MessageGroupId: group = "", MessageDeduplicationId: id, MessageBody: body = "" } = entry;
    const before = id === undefined ? undefined : sentAt.get(`${group} ${id}`);
    if (before !== undefined && clock() - before < DEDUPLICATION_MS) return;
    if (id !== undefined) sentAt.set(`${group} ${id}`, clock());
    queues.get(url)!.push({ id: randomUUID(), group, body, receipt: "", receives: 0, visibleAt: 0 });
  };
  const send = ({ QueueUrl = "", Entries = [] }: SendMessageBatchCommandInput) => {
    const refused = new Set(Entries.filter(() => !isCalm && random() < REFUSED_SHARE));
    if (refused.size > 0) onFault();
    for (const entry of Entries) if (!refused.has(entry)) accept(QueueUrl, entry);
    return {
      Successful: sentOutcomes(Entries.filter((entry) => !refused.has(entry))),
      Failed: [...refused].map(({ Id }) => ({ Id, SenderFault: false, Code: "InternalError" })),
    };
  };
  const changeVisibility = ({ QueueUrl = "", Entries = [] }: ChangeMessageVisibilityBatchCommandInput) => {
    for (const { ReceiptHandle, VisibilityTimeout = 0 } of Entries) {
      const message = queues.get(QueueUrl)!.find(({ receipt }) => receipt === ReceiptHandle);
      if (message !== undefined) message.visibleAt = clock() + VisibilityTimeout * 1000;
    }
    return { Successful: [], Failed: [] };
  };
  // Below the step in which requests fail, are frozen or killed.
  runtime.sqs.middlewareStack.add(
    (next, context) => async (request) => {
      const { commandName } = context;
      if (commandName === "SendMessageBatchCommand")
        return { output: send(request.input as never), response: {} } as never;
      if (commandName === "ChangeMessageVisibilityBatchCommand") {
        return { output: changeVisibility(request.input as never), response: {} } as never;
      }
      return next(request);
    },
    { step: "serialize", name: "faultyQueues" },
  );

  const recordOf = (url: string, { id, group, body, receipt, receives }: Message): SQSRecord => ({
    messageId: id,
    receiptHandle: receipt,
    body,
    attributes: {
      ApproximateReceiveCount: String(receives),
      MessageGroupId: group,
      SentTimestamp: "0",
      SenderId: "test",
      ApproximateFirstReceiveTimestamp: "0",
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: `arn:aws:sqs:us-east-1:000000000000:${url.split("/").at(-1)}`,
    awsRegion: "us-east-1",
  });
  const visible = (url: string): Message[] => {
    const all = queues.get(url)!;
    const isVisible = ({ visibleAt }: Message): boolean => visibleAt <= clock();
    if (url !== fifo) return all.filter(isVisible).toSorted(() => random() - 0.5);
    const busy = new Set(all.filter((message) => !isVisible(message)).map(({ group }) => group));
    return all.filter(({ group }) => !busy.has(group));
  };

  return {
    /** Ends the faults of the queues themselves. */
    end: (): void => void (isCalm = true),
    isEmpty: (): boolean => [...queues.values()].every((messages) => messages.length === 0),
    /**
     * Gives a batch of each queue to the appender, if it has any that are visible.
     * @param invoke calls back with the ids of messages that failed, or never
     */
    deliver: (invoke: (records: readonly SQSRecord[], done: (failed: ReadonlySet<string>) => void) => void): void => {
      for (const [url, messages] of queues) {
        const batch = visible(url).slice(0, isCalm ? BATCH_MAX : 1 + Math.floor(random() * BATCH_MAX));
        if (batch.length === 0) continue;
        for (const message of batch) {
          const isDuplicate = url !== fifo && !isCalm && random() < DUPLICATE_SHARE;
          if (isDuplicate) onFault();
          message.receipt = randomUUID();
          message.receives += 1;
          message.visibleAt = isDuplicate ? 0 : clock() + VISIBILITY_MS;
        }
        const receipts = new Map(batch.map(({ id, receipt }) => [id, receipt]));
        invoke(
          batch.map((message) => recordOf(url, message)),
          (failed) => {
            const isDone = ({ id, receipt }: Message): boolean => receipts.get(id) === receipt && !failed.has(id);
            for (const message of messages.filter(isDone)) messages.splice(messages.indexOf(message), 1);
          },
        );
      }
    },
  };
}
