import {
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SendMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import * as z from "zod";
import { StoreBusyError } from "../errors.ts";
import { backOff, BUSY_DELAY_SECONDS, chunksOf } from "../retry.ts";

/** The most messages that SQS takes at once. Ours are far below its total of 1 MiB. */
const SEND_MAX = 10;
/** SQS may reject single messages of a request, which the SDK doesn't send again. */
const SEND_ATTEMPTS = 6;

/**
 * Sends messages, and retries those that SQS rejects.
 * @returns errors by the `Id` of each message that may not be in the queue; empty if all are
 */
export async function sendMessages(
  sqs: SQSClient,
  queueUrl: string,
  entries: readonly SendMessageBatchRequestEntry[],
): Promise<ReadonlyMap<string, unknown>> {
  const send = async (chunk: readonly SendMessageBatchRequestEntry[]) => {
    let left = [...chunk];
    let error: unknown;
    for (let attempt = 1; attempt <= SEND_ATTEMPTS && left.length > 0; attempt++) {
      if (attempt > 1) await backOff(attempt - 1);
      try {
        const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: left }));
        left = left.filter(({ Id }) => Failed.some((failed) => failed.Id === Id));
        error = new StoreBusyError(`SQS refused ${Failed.length} messages: ${Failed[0]?.Code ?? ""}`);
      } catch (thrown) {
        // The SDK has already retried. Perhaps none is in the queue.
        error = thrown;
        break;
      }
    }
    return left.map(({ Id = "" }) => [Id, error] as const);
  };
  return new Map((await Promise.all(chunksOf(entries, SEND_MAX).map(send))).flat());
}

/** Attribute of a message: how often it was sent again. */
const TIMES = "times_sent_again";

const groupSchema = z.object({ organization: z.string() });

/** Sends a message again; it waits twice as long each time. */
export type SendAgain = (message: Pick<SQSRecord, "body" | "messageAttributes">) => Promise<void>;

/** Makes the function that sends a message to its queue again, later and in its organization's group. */
export function createSendAgain(sqs: SQSClient, queueUrl: string): SendAgain {
  return async ({ body, messageAttributes }) => {
    const { data } = groupSchema.safeParse(JSON.parse(body));
    const times = Number(messageAttributes[TIMES]?.stringValue ?? 0);
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: body,
        DelaySeconds: Math.min(BUSY_DELAY_SECONDS.most, BUSY_DELAY_SECONDS.least * 2 ** times),
        MessageAttributes: { [TIMES]: { DataType: "Number", StringValue: String(times + 1) } },
        ...(data && { MessageGroupId: data.organization }),
      }),
    );
  };
}
