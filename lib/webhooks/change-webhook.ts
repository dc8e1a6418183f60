import { isoTime } from "../clock.ts";
import { IdempotencyKeyReusedError, NotFoundError, StateConflictError } from "../errors.ts";
import { disabled, type EndpointState, newState, renewed } from "./endpoint-state.ts";
import { generateSecret } from "./signature.ts";
import { type Webhook, type WebhookChanges, WEBHOOKS_MAX } from "./webhook.ts";
import {
  changeSettings,
  changeState,
  createWebhook,
  NO_WEBHOOK,
  readForCall,
  readWebhook,
  webhookIds,
  type WebhookKey,
  type WebhookRuntime,
} from "./webhook-store.ts";

interface WebhookWithState {
  readonly webhook: Webhook;
  readonly state: EndpointState;
}

/**
 * Adds a webhook, unless one with its id exists: its first request was then repeated with the same `Idempotency-Key`.
 * Requests at the same time may pass the limit together.
 * @returns the added or existing webhook and its secret
 * @throws StateConflictError if there are too many; IdempotencyKeyReusedError
 */
export async function addWebhook(
  runtime: WebhookRuntime,
  webhook: Webhook,
): Promise<WebhookWithState & { readonly secret: string }> {
  const ids = await webhookIds(runtime, webhook.organization);
  if (!ids.includes(webhook.id)) {
    if (ids.length >= WEBHOOKS_MAX)
      throw new StateConflictError(`there are ${WEBHOOKS_MAX} webhooks; delete one first`);
    const [secret, state] = [generateSecret(), newState(runtime.clock())];
    if (await createWebhook(runtime, webhook, { secret }, state)) return { webhook, state, secret };
  }
  const [existing, forCall] = await Promise.all([readWebhook(runtime, webhook), readForCall(runtime, webhook)]);
  const { url } = existing.webhook;
  if (forCall === undefined || url !== webhook.url) throw new IdempotencyKeyReusedError("for another webhook");
  return { ...existing, secret: forCall.secrets.secret };
}

/**
 * Changes a webhook: its settings, and then its state. If it is interrupted in between, the caller repeats it, and
 * whatever a request names is set again.
 * @throws NotFoundError
 */
export async function updateWebhook(
  runtime: WebhookRuntime,
  key: WebhookKey,
  { enabled, url, types, description }: WebhookChanges,
): Promise<WebhookWithState> {
  const { clock } = runtime;
  const before = await readWebhook(runtime, key);
  const updated = { url, types: types && [...new Set(types)], description, updated_at: isoTime(clock()) };
  const webhook = await changeSettings(runtime, key, updated);
  const isElsewhere = url !== undefined || types !== undefined;
  const next = (state: EndpointState): EndpointState | undefined => {
    if (enabled === false) return state.enabled ? disabled(state) : undefined;
    const isResumed = enabled === true && !state.enabled;
    const isRenewed = isResumed || (isElsewhere && state.enabled);
    return isRenewed ? renewed(state, webhook.types.includes("upload.ended"), clock()) : undefined;
  };
  const changed =
    enabled === undefined && !isElsewhere ? { after: before.state } : await changeState(runtime, key, next);
  if (changed === undefined) throw new NotFoundError(NO_WEBHOOK);
  return { webhook, state: changed.after };
}
