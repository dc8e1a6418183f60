import { setTimeout as sleep } from "node:timers/promises";
import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type ReceiveMessageCommandOutput,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { SQSEvent, SQSRecord } from "aws-lambda";
import * as z from "zod";
import type { LambdaFunction } from "./lambda-function.ts";

/** SQS hands out no more at once. */
const RECEIVE_MAX = 10;
const LONG_POLL_SECONDS = 20;
const RETRY_AFTER_MS = 1000;

/** A queue whose messages start a function. */
export interface EventSource {
  readonly queueArn: string;
  readonly queueUrl: string;
  readonly region: string;
  readonly batchSize: number;
  /** Invocations at once. */
  readonly maximumConcurrency: number;
  /** The function names the messages of a batch that failed; without it a batch fails or succeeds as a whole. */
  readonly reportsBatchItemFailures: boolean;
}

const toRecord = (message: Message, { queueArn, region }: EventSource): SQSRecord => ({
  messageId: message.MessageId ?? "",
  receiptHandle: message.ReceiptHandle ?? "",
  body: message.Body ?? "",
  attributes: { ...message.Attributes } as unknown as SQSRecord["attributes"],
  messageAttributes: Object.fromEntries(
    Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [
      name,
      {
        dataType: value.DataType ?? "String",
        ...(value.StringValue !== undefined && { stringValue: value.StringValue }),
        ...(value.BinaryValue !== undefined && { binaryValue: Buffer.from(value.BinaryValue).toString("base64") }),
        stringListValues: [],
        binaryListValues: [],
      },
    ]),
  ),
  md5OfBody: message.MD5OfBody ?? "",
  eventSource: "aws:sqs",
  eventSourceARN: queueArn,
  awsRegion: region,
});

const batchResponseSchema = z
  .object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string().min(1) })).nullish() })
  .nullish();

/**
 * The messages of a batch that are done, by Lambda's rules: an answer that makes no sense, or names a message that
 * was not in the batch, fails all of it
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html).
 */
const doneOf = (batch: readonly Message[], payload: string): readonly Message[] => {
  const parsed = batchResponseSchema.safeParse(JSON.parse(payload));
  if (!parsed.success) return [];
  const failed = new Set(parsed.data?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier));
  const known = new Set(batch.map(({ MessageId }) => MessageId));
  if ([...failed].some((id) => !known.has(id))) return [];
  return batch.filter(({ MessageId }) => MessageId !== undefined && !failed.has(MessageId));
};

const chunk = <T>(values: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, at) => values.slice(at * size, (at + 1) * size));

export interface Poller {
  /** Receives no more, and waits for the invocations that are running. */
  stop(): Promise<void>;
}

/**
 * Polls a queue and invokes a function with what comes, as Lambda's event source mapping does: what succeeds is
 * deleted, the rest comes back after the queue's visibility timeout, until its redrive policy ends that.
 */
export const pollEventSource = (source: EventSource, target: LambdaFunction, sqs: SQSClient): Poller => {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();

  const deliver = async (batch: readonly Message[]): Promise<void> => {
    const event: SQSEvent = { Records: batch.map((message) => toRecord(message, source)) };
    const invocation = await target.invoke(JSON.stringify(event));
    if (!invocation.ok) return;
    const done = source.reportsBatchItemFailures ? doneOf(batch, invocation.payload) : batch;
    if (done.length === 0) return;
    const Entries = done.map(({ ReceiptHandle }, at) => ({ Id: String(at), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: source.queueUrl, Entries }));
  };
  const start = (batch: readonly Message[]): void => {
    // What could not be invoked or deleted becomes visible again by itself.
    const run = deliver(batch)
      .catch(() => {})
      .finally(() => running.delete(run));
    running.add(run);
  };
  const receive = async (free: number): Promise<ReceiveMessageCommandOutput | undefined> => {
    try {
      return await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: source.queueUrl,
          MaxNumberOfMessages: Math.min(RECEIVE_MAX, free * source.batchSize),
          WaitTimeSeconds: LONG_POLL_SECONDS,
          MessageSystemAttributeNames: ["All"],
          MessageAttributeNames: ["All"],
        }),
        { abortSignal: stopping.signal },
      );
    } catch {
      await sleep(RETRY_AFTER_MS, undefined, { signal: stopping.signal }).catch(() => {});
      return undefined;
    }
  };
  const poll = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const free = source.maximumConcurrency - running.size;
      if (free <= 0) {
        await Promise.race(running);
        continue;
      }
      const received = await receive(free);
      for (const batch of chunk(received?.Messages ?? [], source.batchSize)) start(batch);
    }
  };

  const polling = poll();
  return {
    stop: async () => {
      stopping.abort();
      await polling;
      await Promise.all(running);
    },
  };
};
