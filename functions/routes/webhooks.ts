import * as z from "zod";
import { route, routesOf } from "../../lib/http/route.ts";
import { TEST_CALL_MS } from "../../lib/webhooks/send-test.ts";
import {
  createWebhookSchema,
  testOutcomeSchema,
  updateWebhookSchema,
  WEBHOOKS_MAX,
  webhookSchema,
  webhookWithSecretSchema,
} from "../../lib/webhooks/webhook.ts";
import { examples } from "./examples.ts";
import { deletionOf, linksById } from "./operation.ts";

const ALL = ["WEBHOOK", "WEBHOOK_SECRET", "WEBHOOK_STATE"] as const;
const SHOWN = ["WEBHOOK", "WEBHOOK_STATE"] as const;
const OPERATIONS = [
  "getWebhook",
  "updateWebhook",
  "deleteWebhook",
  "testWebhook",
  "resendWebhook",
  "rotateWebhookSecret",
] as const;
/** What endpoints require that have a webhook called without a change: where its feed is, and the queue. */
const RINGING = {
  changes: { actions: ["Query"], partitions: ["LOG"] },
  webhooksQueue: { actions: ["SendMessage"] },
} as const;

function webhookById() {
  return { id: examples.ids.webhook, response: "The webhook.", example: { data: examples.webhook } };
}

/** Endpoints of webhooks. */
export const webhookRoutes = routesOf({
  createWebhook: () =>
    route({
      method: "POST",
      path: "/v1/webhooks",
      summary: "Create a webhook",
      scopes: ["webhooks"],
      bodyKind: "json",
      body: createWebhookSchema(),
      response: z.strictObject({ data: webhookWithSecretSchema }),
      status: 201,
      extension: true,
      permissions: {
        webhooks: { actions: ["Query", "GetItem", "BatchGetItem", "PutItem"], partitions: [...ALL, "WEBHOOK_LIMIT"] },
        ...RINGING,
      },
      document: () => ({
        description:
          "We send a signed message (Standard Webhooks 1.0.0) to your URL when there is something to fetch. Keep the " +
          "secret: it is shown only in this response, and again if you repeat the request with its `Idempotency-Key` " +
          `before you rotate it. An organization has at most ${WEBHOOKS_MAX} webhooks. A new one gets its first messages ` +
          "within 20 seconds.",
        body: { webhook: { url: examples.webhook.url, types: examples.webhook.types } },
        requestHeaders: ["Idempotency-Key"],
        response: "The webhook and its secret.",
        example: { data: { ...examples.webhook, secret: examples.webhookSecret } },
        links: linksById("$response.body#/data/id", ...OPERATIONS),
        errors: [409],
      }),
    }),
  listWebhooks: () =>
    route({
      method: "GET",
      path: "/v1/webhooks",
      summary: "List webhooks, oldest first",
      scopes: ["webhooks"],
      response: z.strictObject({ data: z.array(webhookSchema) }),
      extension: true,
      permissions: { webhooks: { actions: ["Query"], partitions: SHOWN } },
      document: () => ({
        description: "All webhooks of the organization, with their last delivery.",
        response: "The webhooks.",
        example: { data: [examples.webhook] },
        links: linksById("$response.body#/data/0/id", ...OPERATIONS),
      }),
    }),
  getWebhook: () =>
    route({
      method: "GET",
      path: "/v1/webhooks/{id}",
      summary: "Get a webhook",
      scopes: ["webhooks"],
      response: z.strictObject({ data: webhookSchema }),
      extension: true,
      permissions: { webhooks: { actions: ["GetItem"], partitions: SHOWN } },
      document: () => ({
        description: "Shows the last 20 deliveries, tests included, without the secret.",
        id: examples.ids.webhook,
        response: "The webhook and its last deliveries.",
        example: { data: { ...examples.webhook, deliveries: [examples.webhook.last_delivery] } },
      }),
    }),
  updateWebhook: () =>
    route({
      method: "PATCH",
      path: "/v1/webhooks/{id}",
      summary: "Update a webhook, pause or resume it",
      scopes: ["webhooks"],
      bodyKind: "json",
      body: updateWebhookSchema(),
      response: z.strictObject({ data: webhookSchema }),
      extension: true,
      permissions: {
        webhooks: { actions: ["GetItem", "PutItem", "UpdateItem"], partitions: SHOWN },
        ...RINGING,
      },
      document: () => ({
        description:
          "Omitted fields keep their values. `enabled: false` pauses the webhook, `true` resumes it. A webhook that is " +
          "resumed, or gets another URL or other types, gets its next messages within 20 seconds. One that is failing is " +
          "called at once by `enabled: true`.",
        body: { webhook: { enabled: true } },
        ...webhookById(),
      }),
    }),
  deleteWebhook: () =>
    route({
      method: "DELETE",
      path: "/v1/webhooks/{id}",
      summary: "Delete a webhook",
      scopes: ["webhooks"],
      response: deletionOf("webhook"),
      extension: true,
      permissions: { webhooks: { actions: ["DeleteItem"], partitions: ALL } },
      document: () => ({
        description: "A message that is being sent may still arrive.",
        id: examples.ids.webhook,
        response: "The ID of the deleted webhook.",
        example: { data: { id: examples.ids.webhook, deleted: true } },
      }),
    }),
  rotateWebhookSecret: () =>
    route({
      method: "POST",
      path: "/v1/webhooks/{id}/rotate_secret",
      summary: "Rotate the secret of a webhook",
      scopes: ["webhooks"],
      response: z.strictObject({ data: webhookWithSecretSchema }),
      extension: true,
      permissions: {
        webhooks: { actions: ["GetItem", "UpdateItem"], partitions: ALL, writes: ["WEBHOOK_SECRET"] },
      },
      document: () => ({
        description:
          "Makes a new secret. For 24 hours each message is also signed with the previous secrets: until " +
          "then your receiver can use either. After nine rotations within 24 hours, the next returns 409 and says when it " +
          "will be possible: it would end a secret that must still sign.",
        id: examples.ids.webhook,
        response: "The webhook and its new secret.",
        example: { data: { ...examples.webhook, secret: examples.webhookSecret } },
        errors: [409],
      }),
    }),
  testWebhook: () =>
    route({
      method: "POST",
      path: "/v1/webhooks/{id}/test",
      summary: "Send a test message to a webhook",
      scopes: ["webhooks"],
      response: z.strictObject({ data: testOutcomeSchema }),
      extension: true,
      permissions: {
        webhooks: { actions: ["GetItem", "BatchGetItem", "PutItem"], partitions: ALL, writes: ["WEBHOOK_STATE"] },
        webhooksQueue: { actions: ["SendMessage"] },
      },
      document: () => ({
        description:
          "Sends `webhook.test` at once, even to a paused webhook, and waits up to " +
          `${TEST_CALL_MS / 1000} seconds for the response. While ` +
          "another message is being sent to the webhook, it returns 409. The test is then the last delivery. A success ends " +
          "the failures of the webhook, so that it gets what is due; a failure doesn't count as one of them.",
        id: examples.ids.webhook,
        response: "What the receiver answered.",
        example: { data: { status: 204, reason: null, milliseconds: 84 } },
        errors: [409],
      }),
    }),
  resendWebhook: () =>
    route({
      method: "POST",
      path: "/v1/webhooks/{id}/resend",
      summary: "Send a webhook its messages again",
      scopes: ["webhooks"],
      response: z.strictObject({ data: webhookSchema }),
      status: 202,
      extension: true,
      permissions: {
        webhooks: { actions: ["GetItem", "PutItem"], partitions: SHOWN, writes: ["WEBHOOK_STATE"] },
        ...RINGING,
      },
      document: () => ({
        description:
          "Calls the receiver within seconds, as if the webhook were new: `work_items.changed` with the newest cursor, " +
          "`uploads.ended`, and what else is due. Nothing is lost without it, because each message says what all earlier " +
          "ones did. While a message is being sent, or if the webhook is disabled, it returns 409. `GET /v1/webhooks/{id}` " +
          "shows what the receiver answered.",
        ...webhookById(),
        errors: [409],
      }),
    }),
});
