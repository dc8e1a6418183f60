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

/** A worker that was frozen for longer than this after its claim doesn't call: its claim could expire during the call. */
const FROZEN_MS = 5000;

/** What calling an endpoint requires of a runtime. */
export type CallEndpointRuntime = RuntimeWith<"webhooks" | "webhooksQueue"> & CallRuntime;

/** The result of an attempt to call an endpoint. */
type Called =
  | Exclude<NextStep, { readonly kind: "send" }>
  /** The endpoint is gone, or the worker was frozen for too long. */
  | { readonly kind: "not called" }
  /** @property after undefined if the endpoint is gone, or belongs to another worker */
  | { readonly kind: "called"; readonly outcome: Outcome; readonly after: EndpointState | undefined };

/**
 * Makes the function that calls an endpoint. It claims the endpoint, so that no other worker calls it at the same time,
 * calls it, saves the outcome and releases the claim. It then sends a message if more is due.
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

  /** @param stepIn decides what to do in a state */
  return async (webhook: WebhookKey, stepIn: (state: EndpointState, now: number) => NextStep): Promise<Called> => {
    const by = randomUUID();
    const { step, at } = await claim(webhook, by, stepIn);
    return step.kind === "send" ? send(webhook, by, step.message, at) : step;
  };
}
