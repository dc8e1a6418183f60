import type { RuntimeWith } from "../aws/runtime.ts";
import { createChangeLog } from "../changes/change-log.ts";
import { newestMark } from "../changes/mark.ts";
import { readFirstNumber } from "../organizations/access-store.ts";
import { mapConcurrently } from "../retry.ts";
import { createSendToWebhooks, type DelayedMessage } from "./webhook-messages.ts";
import { type DueWebhook, dueWebhooks } from "./webhook-store.ts";

const CONCURRENT_WEBHOOKS = 16;

/**
 * Makes the function that sends a message for each webhook for which something is due: a long wait is over, a message was
 * lost, a worker has died, or it is new and is rung by itself.
 */
export function createSweepWebhooks(runtime: RuntimeWith<"webhooks" | "webhooksQueue" | "changes" | "access">) {
  const { clock } = runtime;
  const send = createSendToWebhooks(runtime);
  const log = createChangeLog(runtime);

  async function greetingFor({ organization, id }: DueWebhook): Promise<DelayedMessage | undefined> {
    const changesFrom = await readFirstNumber(runtime, organization);
    if (changesFrom === undefined) return undefined;
    const mark = await newestMark(log, { id: organization, changesFrom });
    return { kind: "news", organization, mark, greets: id };
  }

  return async (): Promise<void> => {
    const now = clock();
    const due = await dueWebhooks(runtime, now);
    await mapConcurrently(due, CONCURRENT_WEBHOOKS, async (webhook) => {
      const { organization, id, greetAt = Infinity } = webhook;
      const greeting = greetAt <= now ? await greetingFor(webhook) : undefined;
      const call = { kind: "call", organization, webhook: id } as const;
      await send([...(greeting === undefined ? [] : [greeting]), call]);
    });
  };
}
