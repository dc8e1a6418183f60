import { SendMessageBatchCommand, type SendMessageBatchRequestEntry, type SQSClient } from "@aws-sdk/client-sqs";
import * as z from "zod";
import { backOff, chunksOf } from "../retry.ts";
import { packIds, unpackIds } from "./segment.ts";

/** The most messages that SQS takes at once. With at most 1,000 ids in all of them, they are far below its 1 MiB. */
const SEND_MAX = 10;
/** SQS may refuse single messages of a request, which the SDK doesn't send again. */
const SEND_ATTEMPTS = 6;

/** Changes of one organization on their way to its log. */
export interface ChangeMessage {
  readonly organization: string;
  /** Work items that were written, each once. */
  readonly ids: readonly string[];
  /** When the first of them was written, in milliseconds since the epoch. */
  readonly writtenAt: number;
}

const messageSchema = z.object({
  organization: z.string().min(1),
  /** As in a segment. */
  ids: z.base64().min(1),
  written_at: z.int(),
});

/** The body of a message. */
export function bodyOf({ organization, ids, writtenAt }: ChangeMessage): string {
  return JSON.stringify({ organization, ids: packIds(ids), written_at: writtenAt });
}

/** Reads the body of a message; undefined if it isn't one. */
export function messageIn(body: string): ChangeMessage | undefined {
  try {
    const { organization, ids, written_at: writtenAt } = messageSchema.parse(JSON.parse(body));
    return { organization, ids: unpackIds(ids), writtenAt };
  } catch {
    return undefined;
  }
}

/** Sends messages, those that SQS refuses again. @returns the `Id`s of those that may not be in the queue */
export async function sendMessages(
  sqs: SQSClient,
  queueUrl: string,
  entries: readonly SendMessageBatchRequestEntry[],
): Promise<ReadonlySet<string | undefined>> {
  const send = async (chunk: readonly SendMessageBatchRequestEntry[]) => {
    let left = chunk;
    for (let attempt = 1; attempt <= SEND_ATTEMPTS && left.length > 0; attempt++) {
      if (attempt > 1) await backOff(attempt - 1);
      const { Failed = [] } = await sqs
        .send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: [...left] }))
        // The SDK has tried several times: none may be in the queue.
        .catch(() => ({ Failed: left }));
      left = left.filter(({ Id }) => Failed.some((failed) => failed.Id === Id));
    }
    return left;
  };
  const failed = await Promise.all(chunksOf(entries, SEND_MAX).map(send));
  return new Set(failed.flat().map(({ Id }) => Id));
}
