import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import type { RuntimeWith } from "../runtime/runtime.ts";

/** Somebody else is at work on what the message asks for: it is to come again. */
export class HeldError extends Error {}

/** Kept from the function's time for the last window, its checkpoint and the hand-over. */
const HAND_OVER_MARGIN_MS = 30_000;

export type QueueWorker = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

/**
 * A function behind a queue: each message has its own try, and only those that failed come again.
 * @param handle gets a message's body and when, in milliseconds since the epoch, to hand over to another worker
 */
export const queueWorker =
  (
    { clock, log }: Pick<RuntimeWith<never>, "clock" | "log">,
    handle: (body: string, handOverAt: number) => Promise<void>,
  ): QueueWorker =>
  async ({ Records }, context) => {
    const handOverAt = clock() + context.getRemainingTimeInMillis() - HAND_OVER_MARGIN_MS;
    const batchItemFailures: SQSBatchResponse["batchItemFailures"] = [];
    for (const { messageId, body } of Records) {
      try {
        await handle(body, handOverAt);
      } catch (error) {
        if (error instanceof HeldError) log.info("message returned", { messageId, reason: error.message });
        else log.error("message failed", { messageId, error: error instanceof Error ? error : String(error) });
        batchItemFailures.push({ itemIdentifier: messageId });
      }
    }
    return { batchItemFailures };
  };
