import { randomUUID } from "node:crypto";
import { newestPosition } from "../changes/feed-cursor.ts";
import { createChangeLog } from "../changes/segment-store.ts";
import { isoTime } from "../clock.ts";
import { IdempotencyKeyReusedError, NotFoundError, StateConflictError } from "../errors.ts";
import { FAILING_DAYS_MAX } from "../periods.ts";
import { CONFLICT_CAP_MS, retry } from "../retry.ts";
import type { Organization } from "../organizations/organization.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import {
  BEING_CALLED,
  disabled,
  type DisabledReason,
  disabledReasonOf,
  type EndpointState,
  FIRST_CALL_AFTER_MS,
  isBeingCalled,
  newState,
  nextAttemptOf,
  renewed,
  retriedNow,
  type Ring,
  ringing,
} from "./endpoint-state.ts";
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
} from "./webhook-store.ts";

interface WebhookWithState {
  readonly webhook: Webhook;
  readonly state: EndpointState;
}

/** What a change that calls the webhook requires of a runtime. */
type RingingRuntime = RuntimeWith<"webhooks" | "webhooksQueue" | "changes">;

/** What calling a webhook without a change sends. */
async function ringFor(
  runtime: RingingRuntime,
  organization: Organization,
  { types }: Pick<Webhook, "types">,
): Promise<Ring> {
  const position = types.includes("work_items.changed")
    ? await newestPosition(createChangeLog(runtime), organization)
    : undefined;
  return { id: randomUUID(), position, wantsJobs: types.includes("upload.ended") };
}

/** Why a disabled webhook can't be called, and what to do. */
const DISABLED_BECAUSE: Readonly<Record<DisabledReason, string>> = {
  paused: "it was paused; enable it to resume it",
  gone: "its receiver answered 410; enable it to resume it",
  failures: `it failed for ${FAILING_DAYS_MAX} days; enable it to resume it`,
};

const CREATING = { attempts: 60, cap: CONFLICT_CAP_MS, message: "other webhooks are being created; retry later" };

/**
 * Adds a webhook and has it called soon, unless one with its id exists because the request repeats an `Idempotency-Key`.
 * @param request hash of the body of a request with an `Idempotency-Key`
 * @returns the added or existing webhook and its secret
 * @throws StateConflictError if there are too many, or if the existing one's secret has been rotated;
 * IdempotencyKeyReusedError; StoreBusyError
 */
export async function addWebhook(
  runtime: RingingRuntime,
  organization: Organization,
  webhook: Webhook,
  request: string | undefined,
): Promise<WebhookWithState & { readonly secret: string }> {
  const state = newState(await ringFor(runtime, organization, webhook), runtime.clock());
  const secrets = { secret: generateSecret(), ...(request !== undefined && { request }) };
  const isAdded = await retry(CREATING, async () => {
    const others = await readKnown(runtime, webhook.organization);
    if (others.ids.includes(webhook.id)) return false;
    if (others.ids.length >= WEBHOOKS_MAX) {
      throw new StateConflictError(`there are ${WEBHOOKS_MAX} webhooks; delete one first`);
    }
    return (await createWebhook(runtime, webhook, secrets, state, others)) ? true : undefined;
  });
  if (isAdded) {
    await createSendToWebhooks(runtime)([callMessage(webhook, FIRST_CALL_AFTER_MS)]);
    return { webhook, state, secret: secrets.secret };
  }
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
  runtime: RingingRuntime,
  organization: Organization,
  id: string,
  { enabled, url, types, description }: WebhookChanges,
): Promise<WebhookWithState> {
  const { clock } = runtime;
  const send = createSendToWebhooks(runtime);
  const key = { organization: organization.id, id };
  const before = await readWebhook(runtime, key);
  const updated = { url, types: types && [...new Set(types)], description, updated_at: isoTime(clock()) };
  const webhook = await changeSettings(runtime, key, updated);
  const isElsewhere = url !== undefined || types !== undefined;
  if (enabled === undefined && !isElsewhere) return { webhook, state: before.state };
  const ring = await ringFor(runtime, organization, webhook);
  const changed = await changeState(runtime, key, (state) => {
    if (enabled === false) return state.enabled ? disabled(state, "paused") : undefined;
    if (state.enabled ? isElsewhere : enabled === true) return renewed(state, ring, clock());
    return enabled === true && state.failing_since !== undefined ? retriedNow(state) : undefined;
  });
  if (changed === undefined) throw new NotFoundError(NO_WEBHOOK);
  const { before: previous, after } = changed;
  if (after !== previous && after.enabled) await send([callMessage(key, nextAttemptOf(after) - clock())]);
  return { webhook, state: after };
}

/**
 * Has a webhook called at once, with the newest position and all ended jobs that are due, whatever it was sent before.
 * @throws NotFoundError; StateConflictError while a message is being sent, or if the webhook is disabled
 */
export async function resendWebhook(
  runtime: RingingRuntime,
  organization: Organization,
  id: string,
): Promise<WebhookWithState> {
  const { clock } = runtime;
  const key = { organization: organization.id, id };
  const { webhook } = await readWebhook(runtime, key);
  const ring = await ringFor(runtime, organization, webhook);
  const changed = await changeState(runtime, key, (state) => {
    // The response to its own write was lost.
    if (state.asked === ring.id) return undefined;
    const now = clock();
    if (!state.enabled)
      throw new StateConflictError(`the webhook is disabled: ${DISABLED_BECAUSE[disabledReasonOf(state)]}`);
    if (isBeingCalled(state, now)) throw new StateConflictError(BEING_CALLED);
    return ringing(state, ring, now);
  });
  if (changed === undefined) throw new NotFoundError(NO_WEBHOOK);
  await createSendToWebhooks(runtime)([callMessage(key)]);
  return { webhook, state: changed.after };
}
