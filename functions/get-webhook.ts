import { endpoint } from "../lib/http/endpoint.ts";
import { toWebhookResponse } from "../lib/webhooks/webhook.ts";
import { readWebhook } from "../lib/webhooks/webhook-store.ts";
import { routes } from "./routes.ts";

/** `GET /v1/webhooks/{id}` */
export const { create, handler } = endpoint(routes.getWebhook, {}, (runtime) => async ({ organization, id }) => {
  const { webhook, state } = await readWebhook(runtime, { organization: organization.id, id });
  return { body: { data: toWebhookResponse(webhook, state) } };
});
