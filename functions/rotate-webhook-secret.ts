import { endpoint } from "../lib/http/endpoint.ts";
import { generateSecret } from "../lib/webhooks/signature.ts";
import { toWebhookResponse } from "../lib/webhooks/webhook.ts";
import { readWebhook, rotateSecret } from "../lib/webhooks/webhook-store.ts";
import { webhookRoutes } from "./routes/webhooks.ts";

/** `POST /v1/webhooks/{id}/rotate_secret` */
export const { create, handler } = endpoint(
  webhookRoutes.rotateWebhookSecret,
  {},
  (runtime) =>
    async ({ organization, id }) => {
      const key = { organization: organization.id, id };
      const secret = generateSecret();
      await rotateSecret(runtime, key, secret);
      const { webhook, state } = await readWebhook(runtime, key);
      return { body: { data: { ...toWebhookResponse(webhook, state), secret } } };
    },
);
