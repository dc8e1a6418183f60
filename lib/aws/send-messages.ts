import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import * as z from "zod";
import { BUSY_DELAY_SECONDS } from "../retry.ts";

/** Attribute of a message that was sent again: how often. */
const TIMES = "times_sent_again";

const groupSchema = z.object({ organization: z.string() });

/** Sends a message again; it waits twice as long each time. */
export type SendAgain = (message: Pick<SQSRecord, "body" | "messageAttributes">) => Promise<void>;

/** Sends a message to a queue again, later and in the group of its organization. @param queueUrl of the queue it came from */
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
