import { randomUUID } from "node:crypto";
import type { RuntimeWith } from "../aws/runtime.ts";
import type { CallReceiver, CallRuntime } from "./call-receiver.ts";
import {
  claimed,
  delayAfterCall,
  delivered,
  type Delivered,
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

/** A worker's claim of an endpoint, and what it does there. */
interface Claim extends Pick<Delivered, "by" | "generation"> {
  readonly step: NextStep;
  readonly at: number;
}

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
  ): Promise<Claim> {
    let made: Claim = { by, generation: 0, step: { kind: "rest" }, at: clock() };
    await changeState(runtime, webhook, (state) => {
      if (state.claimed_by === by) return undefined;
      const at = clock();
      made = { by, generation: state.generation, step: stepIn(state, at), at };
      return made.step.kind === "send" ? claimed(state, by, at) : undefined;
    });
    return made;
  }

  async function send(webhook: WebhookKey, message: WebhookMessage, { by, generation, at }: Claim): Promise<Called> {
    const found = await readForCall(runtime, webhook);
    if (found === undefined || clock() - at > FROZEN_MS) return { kind: "not called" };
    const outcome = await callReceiver(found.webhook.url, message, found.secrets);
    const chance = Math.random();
    const call = { webhook: webhook.id, by, generation, message, outcome };
    const changed = await changeState(runtime, webhook, (state) => delivered(state, call, clock(), chance));
    const after = changed?.after;
    const delay = after && delayAfterCall(webhook.id, after, clock());
    if (delay !== undefined) await sendToWebhooks([callMessage(webhook, delay)]);
    return { kind: "called", outcome, after };
  }

  /** @param stepIn decides what to do in a state */
  return async (webhook: WebhookKey, stepIn: (state: EndpointState, now: number) => NextStep): Promise<Called> => {
    const called = await claim(webhook, randomUUID(), stepIn);
    return called.step.kind === "send" ? send(webhook, called.step.message, called) : called.step;
  };
}
