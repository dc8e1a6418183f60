import { randomUUID } from "node:crypto";
import type { RuntimeWith } from "../aws/runtime.ts";
import type { CallReceiver, CallRuntime } from "./call-receiver.ts";
import {
  claimed,
  delayAfterCall,
  delivered,
  type EndpointState,
  type NextStep,
  type Outcome,
  type WebhookMessage,
} from "./endpoint-state.ts";
import { callMessage, createSendToWebhooks } from "./webhook-messages.ts";
import { changeState, readForCall, type WebhookKey } from "./webhook-store.ts";

/** A worker that was frozen for so long after its claim does not call any more: its claim may expire during the call. */
const FROZEN_MS = 5000;

/** What calling an endpoint requires of a runtime. */
export type CallEndpointRuntime = RuntimeWith<"webhooks" | "webhooksQueue"> & CallRuntime;

/** What came of the wish to call an endpoint. */
type Called =
  | Exclude<NextStep, { readonly kind: "send" }>
  /** It is gone, or the worker was frozen for too long. */
  | { readonly kind: "not called" }
  /** @property after undefined if the endpoint is gone, or belongs to another worker */
  | { readonly kind: "called"; readonly outcome: Outcome; readonly after: EndpointState | undefined };

/**
 * Makes the function that calls an endpoint: it claims it, so that no other worker calls it meanwhile, calls it, writes
 * what it answered and gives the claim back, and sends the message for what is due after that.
 */
export function createCallEndpoint(runtime: CallEndpointRuntime, callReceiver: CallReceiver) {
  const { clock } = runtime;
  const sendToWebhooks = createSendToWebhooks(runtime);

  /** Claims an endpoint if there is something to send. */
  async function claim(
    webhook: WebhookKey,
    by: string,
    stepIn: (state: EndpointState, now: number) => NextStep,
  ): Promise<{ readonly step: NextStep; readonly at: number }> {
    let step: NextStep = { kind: "rest" };
    let at = clock();
    await changeState(runtime, webhook, (state) => {
      if (state.claimed_by === by) return undefined;
      at = clock();
      step = stepIn(state, at);
      return step.kind === "send" ? claimed(state, by, at) : undefined;
    });
    return { step, at };
  }

  async function send(webhook: WebhookKey, by: string, message: WebhookMessage, at: number): Promise<Called> {
    const found = await readForCall(runtime, webhook);
    if (found === undefined || clock() - at > FROZEN_MS) return { kind: "not called" };
    const outcome = await callReceiver(found.webhook.url, message, found.secrets);
    const chance = Math.random();
    const call = { webhook: webhook.id, by, message, outcome };
    const changed = await changeState(runtime, webhook, (state) => delivered(state, call, clock(), chance));
    const after = changed?.after;
    const delay = after && delayAfterCall(webhook.id, after, clock());
    if (delay !== undefined) await sendToWebhooks([callMessage(webhook, delay)]);
    return { kind: "called", outcome, after };
  }

  /** @param stepIn says what to do in a state */
  return async (webhook: WebhookKey, stepIn: (state: EndpointState, now: number) => NextStep): Promise<Called> => {
    const by = randomUUID();
    const { step, at } = await claim(webhook, by, stepIn);
    return step.kind === "send" ? send(webhook, by, step.message, at) : step;
  };
}
