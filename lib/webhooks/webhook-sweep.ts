import type { RuntimeWith } from "../aws/runtime.ts";
import { createChangeLog } from "../changes/segment-store.ts";
import { newestPosition } from "../changes/feed-cursor.ts";
import { readFirstNumber } from "../organizations/access-store.ts";
import { mapConcurrently } from "../retry.ts";
import { MalformedRecordError } from "../store/decode-record.ts";
import { callMessage, createSendToWebhooks, type DelayedMessage } from "./webhook-messages.ts";
import { type DueWebhook, dueWebhooks } from "./webhook-store.ts";

const CONCURRENT_WEBHOOKS = 16;

/**
 * Makes the function that sends a message for each webhook for which something is due: a long wait has ended, a message was
 * lost, a worker has died, or the webhook is new and is called without a change.
 */
export function createSweepWebhooks(runtime: RuntimeWith<"webhooks" | "webhooksQueue" | "changes" | "access">) {
  const { clock, log } = runtime;
  const send = createSendToWebhooks(runtime);
  const changes = createChangeLog(runtime);

  async function greetingFor({ organization, id }: DueWebhook): Promise<DelayedMessage | undefined> {
    const changesFrom = await readFirstNumber(runtime, organization);
    if (changesFrom === undefined) return undefined;
    const position = await newestPosition(changes, { id: organization, changesFrom });
    return { kind: "news", organization, position, greets: id };
  }

  /** @returns why there is no message for the webhook; undefined if there is one */
  async function sweepOne(webhook: DueWebhook, now: number): Promise<unknown> {
    const { organization, id, greetAt = Infinity } = webhook;
    try {
      const greeting = greetAt <= now ? await greetingFor(webhook) : undefined;
      await send([...(greeting === undefined ? [] : [greeting]), callMessage(webhook)]);
      return undefined;
    } catch (error) {
      log.error("a webhook can't be swept", { organization, webhook: id, error });
      return error;
    }
  }

  return async (): Promise<void> => {
    const now = clock();
    const due = await dueWebhooks(runtime, now);
    const errors = await mapConcurrently(due, CONCURRENT_WEBHOOKS, (webhook) => sweepOne(webhook, now));
    const failures = errors.filter((error) => error !== undefined && !(error instanceof MalformedRecordError));
    // One organization's failure must not hold up others. If every webhook fails, the service itself does.
    if (failures.length > 0 && failures.length === due.length) throw failures[0];
  };
}
