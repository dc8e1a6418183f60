import { isoTime } from "../clock.ts";
import { IdempotencyKeyReusedError, NotFoundError, StateConflictError } from "../errors.ts";
import { CONFLICT_CAP_MS, retry } from "../retry.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { disabled, type EndpointState, newState, renewed, retriedNow } from "./endpoint-state.ts";
import { generateSecret } from "./signature.ts";
import { type Webhook, type WebhookChanges, WEBHOOKS_MAX } from "./webhook.ts";
import { callMessage, createSendToWebhooks } from "./webhook-messages.ts";
import {
  changeSettings,
  changeState,
  createWebhook,
  NO_WEBHOOK,
  readForCall,
  readKnown,
  readWebhook,
  type WebhookKey,
  type WebhookRuntime,
} from "./webhook-store.ts";

interface WebhookWithState {
  readonly webhook: Webhook;
  readonly state: EndpointState;
}

const CREATING = { attempts: 60, cap: CONFLICT_CAP_MS, message: "other webhooks are being created; retry later" };

/**
 * Adds a webhook, unless one with its id exists because the request repeats an `Idempotency-Key`.
 * @param request hash of the body of a request with an `Idempotency-Key`
 * @returns the added or existing webhook and its secret
 * @throws StateConflictError if there are too many, or if the existing one's secret has been rotated;
 * IdempotencyKeyReusedError; StoreBusyError
 */
export async function addWebhook(
  runtime: WebhookRuntime,
  webhook: Webhook,
  request: string | undefined,
): Promise<WebhookWithState & { readonly secret: string }> {
  const state = newState(runtime.clock());
  const secrets = { secret: generateSecret(), ...(request !== undefined && { request }) };
  const isAdded = await retry(CREATING, async () => {
    const known = await readKnown(runtime, webhook.organization);
    if (known.ids.includes(webhook.id)) return false;
    if (known.ids.length >= WEBHOOKS_MAX) {
      throw new StateConflictError(`there are ${WEBHOOKS_MAX} webhooks; delete one first`);
    }
    return (await createWebhook(runtime, webhook, secrets, state, known)) ? true : undefined;
  });
  if (isAdded) return { webhook, state, secret: secrets.secret };
  const [existing, forCall] = await Promise.all([readWebhook(runtime, webhook), readForCall(runtime, webhook)]);
  if (forCall?.secrets.request !== request) throw new IdempotencyKeyReusedError("with another body");
  const { secret, previous } = forCall?.secrets ?? {};
  if (secret === undefined || previous !== undefined) {
    throw new StateConflictError(
      `the webhook ${webhook.id} exists, and its secret has been rotated since; rotate it to get a new one`,
    );
  }
  return { ...existing, secret };
}

/**
 * Changes a webhook's settings, and then its state. Enabling a failing webhook calls it at once. If it is interrupted in
 * between, the caller repeats the request, which sets everything again.
 * @throws NotFoundError
 */
export async function updateWebhook(
  runtime: RuntimeWith<"webhooks" | "webhooksQueue">,
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
    if (isRenewed) return renewed(state, webhook.types.includes("upload.ended"), clock());
    return enabled === true && state.failing_since !== undefined ? retriedNow(state) : undefined;
  };
  const changed =
    enabled === undefined && !isElsewhere ? { after: before.state } : await changeState(runtime, key, next);
  if (changed === undefined) throw new NotFoundError(NO_WEBHOOK);
  const { after } = changed;
  const isRetried = enabled === true && after.failing_since !== undefined;
  if (isRetried) await createSendToWebhooks(runtime)([callMessage(key)]);
  return { webhook, state: after };
}
