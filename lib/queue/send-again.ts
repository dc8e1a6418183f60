import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import * as z from "zod";

/** Long enough for a throttled table or a short outage, short enough for whoever waits. */
const DELAY_SECONDS = 30;

const groupSchema = z.object({ organization: z.string() });

/** Sends a message to a queue again, later and in the group of its organization. @param queueUrl of the queue it came from */
export const createSendAgain =
  (sqs: SQSClient, queueUrl: string) =>
  async (body: string): Promise<void> => {
    const { data } = groupSchema.safeParse(JSON.parse(body));
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: body,
        DelaySeconds: DELAY_SECONDS,
        ...(data && { MessageGroupId: data.organization }),
      }),
    );
  };
