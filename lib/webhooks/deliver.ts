import { randomUUID } from "node:crypto";
import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { RuntimeWith } from "../aws/runtime.ts";
import { mapConcurrently } from "../retry.ts";
import { logDamaged, MalformedRecordError, passDamaged } from "../store/decode-record.ts";
import { type CallRuntime, createCallReceiver } from "./call-receiver.ts";
import {
  claimed,
  delivered,
  type EndpointState,
  delayAfterCall,
  delayAfterNews,
  delayIfEarly,
  isSuccess,
  type NextStep,
  nextStep,
  noted,
  type WebhookMessage,
} from "./endpoint-state.ts";
import type { Webhook } from "./webhook.ts";
import {
  type CallMessage,
  createSendToWebhooks,
  type DelayedMessage,
  type NewsMessage,
  webhookMessageIn,
} from "./webhook-messages.ts";
import { changeState, listWebhooks, readForCall, type WebhookKey } from "./webhook-store.ts";

const CONCURRENT_STATES = 8;
/** A worker that was frozen for so long after its claim does not call any more: its claim may expire during the call. */
const FROZEN_MS = 5000;

/** What delivering requires of a runtime. */
export type DeliverRuntime = RuntimeWith<"webhooks" | "webhooksQueue"> & CallRuntime;

/**
 * Makes the function that handles a message of the webhooks' queue: it notes news in the states of an organization's
 * endpoints, and calls an endpoint while something is due.
 * @param callReceiver calls a URL
 * @returns a function of a message's body
 */
export function createDeliver(runtime: DeliverRuntime, callReceiver = createCallReceiver(runtime)) {
  const { clock, log } = runtime;
  const send = createSendToWebhooks(runtime);
  const metrics = new Metrics();
  const onDamaged = logDamaged(runtime);

  const callMessage = ({ organization, id }: WebhookKey, delayMs: number): DelayedMessage => ({
    kind: "call",
    organization,
    webhook: id,
    delayMs,
  });

  async function note({ organization, mark, jobs, greets }: NewsMessage): Promise<void> {
    const webhooks = await listWebhooks(runtime, organization, onDamaged);
    const noteIn = async ({ id, types }: Webhook): Promise<readonly DelayedMessage[]> => {
      const wantsJobs = types.includes("upload.ended");
      const news = {
        mark: types.includes("work_items.changed") ? mark : undefined,
        jobs: wantsJobs ? jobs : [],
        // Jobs that ended while the endpoint was not known yet.
        more: wantsJobs && greets !== undefined ? randomUUID() : undefined,
        isGreeting: greets !== undefined,
      };
      const changed = await changeState(runtime, { organization, id }, (state) => noted(state, news, clock()));
      const delay = changed && delayAfterNews(id, changed.before, changed.after, clock());
      return delay === undefined ? [] : [callMessage({ organization, id }, delay)];
    };
    const rung = webhooks.filter(({ id }) => greets === undefined || greets === id);
    // An endpoint that can't take its news keeps no other from being called.
    const errors: unknown[] = [];
    const calls = await mapConcurrently(rung, CONCURRENT_STATES, (webhook) =>
      noteIn(webhook).catch((error: unknown) => {
        errors.push(error);
        return [];
      }),
    );
    await send(calls.flat());
    for (const error of errors) passDamaged(onDamaged)(error);
  }

  /** Claims an endpoint if something is due, and no other worker has claimed it. */
  async function claim(webhook: WebhookKey, by: string): Promise<{ readonly step: NextStep; readonly at: number }> {
    let step: NextStep = { kind: "rest" };
    let at = clock();
    await changeState(runtime, webhook, (state) => {
      if (state.claimed_by === by) return undefined;
      at = clock();
      step = nextStep(webhook.id, state, at);
      return step.kind === "send" ? claimed(state, by, at) : undefined;
    });
    return { step, at };
  }

  /** Calls an endpoint once. @returns its state after that; undefined if it is gone, or belongs to another worker */
  async function callOnce(
    webhook: WebhookKey,
    by: string,
    message: WebhookMessage,
    at: number,
  ): Promise<EndpointState | undefined> {
    const found = await readForCall(runtime, webhook);
    if (found === undefined || clock() - at > FROZEN_MS) return undefined;
    const outcome = await callReceiver(found.webhook.url, message, found.secrets);
    metrics.singleMetric().addMetric(isSuccess(outcome) ? "WebhookCalls" : "WebhookFailures", MetricUnit.Count, 1);
    const chance = Math.random();
    const write = (state: EndpointState) =>
      delivered(state, { webhook: webhook.id, by, message, outcome }, clock(), chance);
    const changed = await changeState(runtime, webhook, write);
    const after = changed?.after;
    if (after?.enabled === false) log.warn("a webhook was disabled", { ...webhook, status: outcome.status });
    return after;
  }

  /** Calls an endpoint if something is due, and sends the message for what is due after that. */
  async function call({ organization, webhook: id }: CallMessage): Promise<void> {
    const webhook = { organization, id };
    const by = randomUUID();
    const { step, at } = await claim(webhook, by);
    if (step.kind === "rest") return;
    const after = step.kind === "send" ? await callOnce(webhook, by, step.message, at) : undefined;
    const delay = step.kind === "wait" ? delayIfEarly(step, clock()) : after && delayAfterCall(id, after, clock());
    if (delay !== undefined) await send([callMessage(webhook, delay)]);
  }

  return async (body: string): Promise<void> => {
    const message = webhookMessageIn(body);
    if (message === undefined) return log.error("a message about webhooks can't be read");
    try {
      await (message.kind === "news" ? note(message) : call(message));
    } catch (error) {
      if (!(error instanceof MalformedRecordError)) throw error;
      log.error("a webhook has a damaged record", { organization: message.organization, error });
    }
  };
}
