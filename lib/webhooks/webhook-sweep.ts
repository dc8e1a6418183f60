import type { RuntimeWith } from "../aws/runtime.ts";
import { chunksOf } from "../retry.ts";
import { callMessage, createSendToWebhooks } from "./webhook-messages.ts";
import { dueWebhooks } from "./webhook-store.ts";

/** Sent at the same time, ten in a request. */
const MESSAGES_AT_ONCE = 160;

/**
 * Makes the function that sends a message for each webhook for which something is due: a long wait has ended, a message was
 * lost, or a worker has died.
 */
export function createSweepWebhooks(runtime: RuntimeWith<"webhooks" | "webhooksQueue">) {
  const send = createSendToWebhooks(runtime);
  return async (): Promise<void> => {
    const due = await dueWebhooks(runtime, runtime.clock());
    for (const some of chunksOf(due, MESSAGES_AT_ONCE)) await send(some.map((webhook) => callMessage(webhook)));
  };
}
