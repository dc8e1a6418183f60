import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { codeOf, isUnavailable } from "./error-codes.ts";
import type { RuntimeWith } from "./runtime.ts";
import type { SendAgain } from "./send-messages.ts";

/** Reserved at the end of the function's time for the window that is being applied. */
const HAND_OVER_MARGIN_MS = 30_000;

/** The handler of a function that a queue triggers. */
export type QueueWorker = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

/**
 * Makes the handler of a function that a queue triggers. It handles the messages of a batch at the same time and reports
 * each that failed.
 * @param handle gets a message's body, and when to hand over to another worker, in milliseconds since the epoch
 * @param sendAgain replaces a message that failed because AWS is busy or unavailable with a new one: these failures must
 * not make it a dead letter. @default the message is delivered again
 */
export function queueWorker(
  { clock, log }: Pick<RuntimeWith<never>, "clock" | "log">,
  handle: (body: string, handOverAt: number) => Promise<void>,
  sendAgain?: SendAgain,
): QueueWorker {
  return async ({ Records }, context) => {
    const handOverAt = clock() + context.getRemainingTimeInMillis() - HAND_OVER_MARGIN_MS;
    /** @returns whether the message can be deleted */
    const replace = async (message: SQSRecord, reason: unknown): Promise<boolean> => {
      if (sendAgain === undefined || !isUnavailable(reason)) return false;
      log.warn("message waits for AWS", { messageId: message.messageId, reason: codeOf(reason) });
      return sendAgain(message).then(
        () => true,
        () => false,
      );
    };
    /** @returns whether the message failed and must be delivered again */
    const hasFailed = async (message: SQSRecord): Promise<boolean> => {
      const { messageId, body } = message;
      try {
        await handle(body, handOverAt);
        return false;
      } catch (error) {
        if (await replace(message, error)) return false;
        log.error("message failed", { messageId, error: error instanceof Error ? error : String(error) });
        return true;
      }
    };
    const failed = await Promise.all(Records.map(hasFailed));
    return {
      batchItemFailures: Records.filter((_, index) => failed[index]).map(({ messageId }) => ({
        itemIdentifier: messageId,
      })),
    };
  };
}
