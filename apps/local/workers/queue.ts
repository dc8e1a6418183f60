import { setTimeout as sleep } from "node:timers/promises";
import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type ReceiveMessageCommandOutput,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { chunksOf } from "@work-items/lib/retry.ts";
import type { Invoke } from "../functions.ts";
import { queueArn, REGION } from "../platform.ts";

/** The most messages that SQS returns for one request. */
const RECEIVE_MAX = 10;
const LONG_POLL_SECONDS = 20;
const RETRY_AFTER_MS = 1000;

/** An event source mapping from a queue to a function that reports which messages of a batch failed. */
export interface QueueSource {
  readonly queueUrl: string;
  readonly batchSize: number;
  /** The most invocations at the same time. */
  readonly maximumConcurrency: number;
}

/** The record of a message in Lambda's event. */
export function toRecord(message: Message, queueUrl: string): SQSRecord {
  return {
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
    eventSourceARN: queueArn(queueUrl),
    awsRegion: REGION,
  };
}

/** The running poller of one event source mapping. */
export interface Poller {
  /** Stops receiving, and waits for the running invocations. */
  stop(): Promise<void>;
}

/**
 * Polls a queue and invokes a function with its messages, as Lambda's event source mapping does. Deletes messages that succeed.
 * Others become visible again after the queue's visibility timeout, until its redrive policy applies.
 */
export function pollQueue(source: QueueSource, invoke: Invoke, sqs: SQSClient): Poller {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();

  const deliver = async (batch: readonly Message[]): Promise<void> => {
    const event: SQSEvent = { Records: batch.map((message) => toRecord(message, source.queueUrl)) };
    const { batchItemFailures } = (await invoke(event)) as SQSBatchResponse;
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const succeeded = batch.filter(({ MessageId = "" }) => !failed.has(MessageId));
    // An id that isn't in the batch fails all of it: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
    if (batch.length - succeeded.length < failed.size) return;
    if (succeeded.length === 0) return;
    const Entries = succeeded.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: source.queueUrl, Entries }));
  };
  const start = (batch: readonly Message[]): void => {
    // A message that couldn't be handled or deleted becomes visible again.
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
      for (const batch of chunksOf(received?.Messages ?? [], source.batchSize)) start(batch);
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
}
