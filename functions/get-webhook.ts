import { endpoint } from "../lib/http/endpoint.ts";
import { toWebhookWithDeliveries } from "../lib/webhooks/webhook.ts";
import { readWebhook } from "../lib/webhooks/webhook-store.ts";
import { webhookRoutes } from "./routes/webhooks.ts";

/** `GET /v1/webhooks/{id}` */
export const { create, handler } = endpoint(webhookRoutes.getWebhook, {}, (runtime) => async ({ organization, id }) => {
  const { webhook, state } = await readWebhook(runtime, { organization: organization.id, id });
  return { body: { data: toWebhookWithDeliveries(webhook, state) } };
});
