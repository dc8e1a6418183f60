import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import { mapConcurrently } from "../retry.ts";
import { logDamaged, MalformedRecordError, passDamaged } from "../store/decode-record.ts";
import { type CallEndpointRuntime, createCallEndpoint } from "./call-endpoint.ts";
import { createCallReceiver } from "./call-receiver.ts";
import { delayAfterNews, delayIfEarly, disabledReasonOf, isSuccess, nextStep, noted } from "./endpoint-state.ts";
import type { Webhook } from "./webhook.ts";
import {
  type CallMessage,
  callMessage,
  createSendToWebhooks,
  type DelayedMessage,
  type NewsMessage,
  webhookMessageIn,
} from "./webhook-messages.ts";
import { changeState, listWebhooks } from "./webhook-store.ts";

const CONCURRENT_STATES = 8;

/**
 * Makes the function that handles a message of the webhooks' queue: it notes news in the states of an organization's
 * endpoints, or calls an endpoint if something is due.
 * @param callReceiver calls a URL
 * @returns a function of a message's body
 */
export function createDeliver(runtime: CallEndpointRuntime, callReceiver = createCallReceiver(runtime)) {
  const { clock, log } = runtime;
  const send = createSendToWebhooks(runtime);
  const callEndpoint = createCallEndpoint(runtime, callReceiver);
  const metrics = new Metrics();
  const onDamaged = logDamaged(runtime);

  async function note({ organization, position, jobs, more }: NewsMessage): Promise<void> {
    const webhooks = await listWebhooks(runtime, organization, onDamaged);
    const noteIn = async ({ id, types }: Webhook): Promise<readonly DelayedMessage[]> => {
      const wantsJobs = types.includes("upload.ended");
      const news = {
        position: types.includes("work_items.changed") ? position : undefined,
        ...(wantsJobs && { jobs, more }),
      };
      const changed = await changeState(runtime, { organization, id }, (state) => noted(state, news, clock()));
      const delay = changed && delayAfterNews(id, changed.before, changed.after, clock());
      return delay === undefined ? [] : [callMessage({ organization, id }, delay)];
    };
    // An endpoint whose news can't be noted must not keep others from being called.
    const errors: unknown[] = [];
    const calls = await mapConcurrently(webhooks, CONCURRENT_STATES, (webhook) =>
      noteIn(webhook).catch((error: unknown) => {
        errors.push(error);
        return [];
      }),
    );
    await send(calls.flat());
    for (const error of errors) passDamaged(onDamaged)(error);
  }

  /** Calls an endpoint if something is due. */
  async function call({ organization, webhook: id }: CallMessage): Promise<void> {
    const webhook = { organization, id };
    const called = await callEndpoint(webhook, (state, now) => nextStep(id, state, now));
    if (called.kind === "wait") {
      const delay = delayIfEarly(called, clock());
      if (delay !== undefined) await send([callMessage(webhook, delay)]);
    }
    if (called.kind !== "called") return;
    const { outcome, after } = called;
    metrics.singleMetric().addMetric(isSuccess(outcome) ? "WebhookCalls" : "WebhookFailures", MetricUnit.Count, 1);
    if (outcome.status === undefined) log.warn("no response from a webhook", { ...webhook, reason: outcome.reason });
    const isDisabled = after?.enabled === false && disabledReasonOf(after) !== "paused";
    if (isDisabled) log.warn("a webhook was disabled", { ...webhook, status: outcome.status });
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
