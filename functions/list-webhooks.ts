import { endpoint } from "../lib/http/endpoint.ts";
import { logDamaged } from "../lib/store/decode-record.ts";
import { toWebhookResponse } from "../lib/webhooks/webhook.ts";
import { listWithStates } from "../lib/webhooks/webhook-store.ts";
import { webhookRoutes } from "./routes/webhooks.ts";

/** `GET /v1/webhooks` */
export const { create, handler } = endpoint(webhookRoutes.listWebhooks, {}, (runtime) => async ({ organization }) => {
  const found = await listWithStates(runtime, organization.id, logDamaged(runtime));
  return { body: { data: found.map(({ webhook, state }) => toWebhookResponse(webhook, state)) } };
});
