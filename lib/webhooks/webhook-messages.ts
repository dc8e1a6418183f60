import type { SendMessageBatchRequestEntry } from "@aws-sdk/client-sqs";
import * as z from "zod";
import type { RuntimeWith } from "../aws/runtime.ts";
import { sendMessages } from "../aws/send-messages.ts";
import { DELAYED_MAX_MS, endedJobSchema } from "./endpoint-state.ts";
import type { WebhookKey } from "./webhook-store.ts";

const newsMessageSchema = z.object({
  kind: z.literal("news"),
  organization: z.string(),
  /** The newest position of the organization's feed. */
  position: z.int().optional(),
  /** Ended jobs, at most the newest hundred: SQS takes 1 MiB. */
  jobs: z.array(endedJobSchema).default([]),
  /** Names the message that stands for older jobs. */
  more: z.string().optional(),
});
const callMessageSchema = z.object({ kind: z.literal("call"), organization: z.string(), webhook: z.string() });
const messageSchema = z.discriminatedUnion("kind", [newsMessageSchema, callMessageSchema]);

/** News for the webhooks of an organization. */
export type NewsMessage = z.output<typeof newsMessageSchema>;
/** Asks a worker to call a webhook's endpoint if something is due. */
export type CallMessage = z.output<typeof callMessageSchema>;
/** A message for the webhooks' queue, and its delay. */
export type DelayedMessage = (z.input<typeof newsMessageSchema> | CallMessage) & { readonly delayMs?: number };

/** Reads a message of the webhooks' queue. @returns undefined if it can't be read */
export function webhookMessageIn(body: string): NewsMessage | CallMessage | undefined {
  try {
    return messageSchema.parse(JSON.parse(body));
  } catch {
    return undefined;
  }
}

/** Makes a `CallMessage`. */
export function callMessage({ organization, id }: WebhookKey, delayMs = 0): DelayedMessage {
  return { kind: "call", organization, webhook: id, delayMs };
}

/** Makes the function that sends messages to the webhooks' queue. It throws unless all are in it. */
export function createSendToWebhooks({ sqs, environment }: RuntimeWith<"webhooksQueue">) {
  return async (messages: readonly DelayedMessage[]): Promise<void> => {
    const entries = messages.map(({ delayMs = 0, ...message }, index): SendMessageBatchRequestEntry => ({
      Id: String(index),
      MessageBody: JSON.stringify(message),
      MessageGroupId: message.organization,
      DelaySeconds: Math.ceil(Math.min(DELAYED_MAX_MS, Math.max(0, delayMs)) / 1000),
    }));
    const [failure] = (await sendMessages(sqs, environment.WEBHOOKS_QUEUE_URL, entries)).values();
    if (failure !== undefined) throw failure;
  };
}
