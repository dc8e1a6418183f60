import * as z from "zod";
import { isoTime } from "../clock.ts";
import { InvalidInputError, problemIf } from "../errors.ts";
import { FAILING_DAYS_MAX } from "../periods.ts";
import { boundedArray, storedTimestamp, text, uuid } from "../schema.ts";
import {
  type Delivery,
  disabledReasonOf,
  disabledReasonSchema,
  type EndpointState,
  nextAttemptOf,
  WEBHOOK_TYPES,
} from "./endpoint-state.ts";
import { hostOf, isPrivateLiteral, LOCALHOST } from "./public-addresses.ts";

const URL_MAX_CHARACTERS = 2048;
/** How a URL begins. `assertUrl` says which services take `http://localhost`. */
const URL_START = /^(?:https:\/\/|http:\/\/localhost)/;
/** The most webhooks of an organization. */
export const WEBHOOKS_MAX = 20;
const HTTPS_PORT = 443;
/** Lower ports belong to other services, such as mail. */
const FREE_PORTS_FROM = 1024;

/** What a webhook can be notified of. */
const webhookTypeSchema = z
  .enum(WEBHOOK_TYPES)
  .meta({ id: "WebhookType", description: "An event for which a webhook gets messages." });

function inputShape() {
  return {
    url: text(URL_MAX_CHARACTERS)
      .regex(URL_START, "must begin with https://")
      .meta({ format: "uri" })
      .describe(
        "Where to send messages: an https URL without a user name, on port 443 or from 1024 up. Only a service on your own machine also takes `http://localhost`.",
      ),
    types: boundedArray(webhookTypeSchema, WEBHOOK_TYPES.length, "types", false).describe(
      "Which messages to send. `upload.ended` includes `uploads.ended`. Default: all.",
    ),
    description: text().nullable().describe("Your own note."),
  };
}

/** The body that creates a webhook. */
export function createWebhookSchema() {
  const { url, types, description } = inputShape();
  return z.strictObject({
    webhook: z.strictObject({ url, types: types.optional(), description: description.optional() }),
  });
}
/** The body that changes a webhook. */
export function updateWebhookSchema() {
  const enabled = z.boolean().describe("`false` pauses the webhook, `true` resumes it.");
  return z.strictObject({ webhook: z.strictObject({ ...inputShape(), enabled }).partial() });
}
/** What a request may set. */
export type WebhookInput = z.output<ReturnType<typeof createWebhookSchema>>["webhook"];
/** What a request may change. */
export type WebhookChanges = z.output<ReturnType<typeof updateWebhookSchema>>["webhook"];

/**
 * Checks the text of a webhook's URL. The host's addresses are checked when a socket connects.
 * @param allowLocalhost whether `http://localhost` is allowed too, because the service runs on the receiver's machine
 * @throws InvalidInputError
 */
export function assertUrl(given: string | undefined, allowLocalhost: boolean): void {
  if (given === undefined) return;
  const path = ["webhook", "url"];
  const refuseIf = (isWrong: boolean, message: string): void => {
    if (isWrong) throw new InvalidInputError(problemIf(true, path, "invalid_value", message));
  };
  // URL.parse drops some of them, and the others would be stored as they are.
  refuseIf(/[\s\p{Cc}]/u.test(given), "must not contain spaces, line breaks or control characters");
  const url = URL.parse(given);
  refuseIf(url === null, "must be a URL");
  const { protocol, username, password, port } = url!;
  const host = hostOf(url!);
  refuseIf(username !== "" || password !== "", "must not have a user name or password");
  if (allowLocalhost && host === LOCALHOST && /^https?:$/.test(protocol)) return;
  refuseIf(protocol !== "https:", "must begin with https://");
  const number = port === "" ? HTTPS_PORT : Number(port);
  refuseIf(number !== HTTPS_PORT && number < FREE_PORTS_FROM, "must have port 443 or one from 1024 up");
  refuseIf(isPrivateLiteral(host), "must not be an address of a private network");
}

/** The stored settings of a webhook. */
export const webhookRecordSchema = z.object({
  organization: z.string(),
  id: z.string(),
  url: z.string(),
  types: z.array(webhookTypeSchema),
  description: z.string().nullable(),
  created_at: storedTimestamp,
  updated_at: storedTimestamp,
});
/** The settings of a webhook. */
export type Webhook = Readonly<z.output<typeof webhookRecordSchema>>;

/** The settings of a new webhook. */
export function newWebhook(organization: string, id: string, input: WebhookInput, now: number): Webhook {
  const { url, types = WEBHOOK_TYPES, description = null } = input;
  return {
    organization,
    id,
    url,
    types: [...new Set(types)],
    description,
    created_at: isoTime(now),
    updated_at: isoTime(now),
  };
}

const outcomeShape = {
  status: z.int().nullable().describe("HTTP status of the response; null if there was none."),
  reason: z.string().nullable().describe("Why there was no response; null if there was one."),
  milliseconds: z.int().describe("How long the call took."),
};

/** A receiver's response to a test. */
export const testOutcomeSchema = z.strictObject(outcomeShape);

/** A delivery in responses. */
const deliverySchema = z.strictObject({
  at: storedTimestamp.describe("When it ended."),
  type: z.string().describe("Type of the message."),
  message_id: z.string().describe("The `webhook-id` of the message, the same for each attempt."),
  ...outcomeShape,
});

const time = storedTimestamp.nullable();
/** A webhook in responses. */
export const webhookSchema = z
  .strictObject({
    id: uuid.describe("ID of the webhook."),
    url: z.string().describe("Where messages are sent."),
    types: z.array(webhookTypeSchema).describe("Which messages it gets."),
    description: z.string().nullable().describe("Your own note."),
    status: z
      .enum(["active", "failing", "disabled"])
      .describe(
        "`failing`: the last attempt failed. `disabled`: it gets no messages, for the reason in `disabled_reason`.",
      ),
    disabled_reason: disabledReasonSchema
      .nullable()
      .describe(
        "`paused`: you paused it. `gone`: the receiver answered 410. " +
          `\`failures\`: it failed for ${FAILING_DAYS_MAX} days. Null if it isn't disabled.`,
      ),
    failing_since: time.describe("Time of the first failed attempt; null after a success."),
    next_attempt_at: time.describe("When the next attempt is due; null if none is."),
    last_delivery: deliverySchema.nullable().describe("The last call to the receiver."),
    deliveries: z
      .array(deliverySchema.meta({ id: "WebhookDelivery", description: "A call to the receiver of a webhook." }))
      .optional()
      .describe("The last 20 calls to the receiver, newest first. Only in the response to `GET /v1/webhooks/{id}`."),
    created_at: storedTimestamp.describe("When the webhook was created."),
    updated_at: storedTimestamp.describe("When its settings last changed."),
  })
  .meta({ id: "Webhook", description: "Your endpoint, which gets a message when there is something to fetch." });
/** A webhook in responses, with a secret that is shown once. */
export const webhookWithSecretSchema = webhookSchema
  .extend({ secret: z.string().describe("Signs the messages. It is shown only here.") })
  .meta({ id: "WebhookWithSecret", description: "A webhook and its secret." });

function statusOf({ enabled, failing_since: since }: EndpointState) {
  if (!enabled) return "disabled";
  return since === undefined ? "active" : "failing";
}

function toDeliveryResponse({ at, type, id, status, reason, milliseconds }: Delivery) {
  return { at: isoTime(at), type, message_id: id, status: status ?? null, reason: reason ?? null, milliseconds };
}

/** A webhook as responses show it. */
export function toWebhookResponse(webhook: Webhook, state: EndpointState): z.input<typeof webhookSchema> {
  const { organization: _, ...settings } = webhook;
  const { enabled, failing_since: since, deliveries } = state;
  const next = nextAttemptOf(state);
  const [last] = deliveries;
  return {
    ...settings,
    status: statusOf(state),
    disabled_reason: enabled ? null : disabledReasonOf(state),
    failing_since: since === undefined ? null : isoTime(since),
    next_attempt_at: next === 0 ? null : isoTime(next),
    last_delivery: last === undefined ? null : toDeliveryResponse(last),
  };
}

/** A webhook with its last deliveries, as responses show it. */
export function toWebhookWithDeliveries(webhook: Webhook, state: EndpointState) {
  return { ...toWebhookResponse(webhook, state), deliveries: state.deliveries.map(toDeliveryResponse) };
}
