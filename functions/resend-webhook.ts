import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { resendWebhook } from "../lib/webhooks/change-webhook.ts";
import { toWebhookResponse } from "../lib/webhooks/webhook.ts";
import { webhookRoutes } from "./routes/webhooks.ts";

/** `POST /v1/webhooks/{id}/resend` */
export const { create, handler } = endpoint(
  webhookRoutes.resendWebhook,
  { sqs: createSqsClient },
  (runtime) =>
    async ({ organization, id }) => {
      const { webhook, state } = await resendWebhook(runtime, organization, id);
      return { body: { data: toWebhookResponse(webhook, state) } };
    },
);
