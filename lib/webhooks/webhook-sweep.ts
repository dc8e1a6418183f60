import type { RuntimeWith } from "../aws/runtime.ts";
import { isoTime } from "../clock.ts";
import { chunksOf } from "../retry.ts";
import { callMessage, createSendToWebhooks } from "./webhook-messages.ts";
import { dueWebhooks } from "./webhook-store.ts";

/** Sent at the same time, ten in a request. */
const MESSAGES_AT_ONCE = 160;

/**
 * Makes the function that sends a message for each webhook for which something is due: a long wait has ended, a message was
 * lost, or a worker has died.
 * @returns how many organizations have a webhook that can't be reached
 */
export function createSweepWebhooks(runtime: RuntimeWith<"webhooks" | "webhooksQueue">) {
  const send = createSendToWebhooks(runtime);
  return async (): Promise<number> => {
    const found = await dueWebhooks(runtime);
    const now = isoTime(runtime.clock());
    const due = found.filter(({ checkAt }) => checkAt < now);
    for (const some of chunksOf(due, MESSAGES_AT_ONCE)) await send(some.map(({ key }) => callMessage(key)));
    return new Set(found.filter(({ isUnreachable }) => isUnreachable).map(({ key }) => key.organization)).size;
  };
}
