import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { readJsonBody } from "../lib/http/request-body.ts";
import { assertUrl, toWebhookResponse } from "../lib/webhooks/webhook.ts";
import { updateWebhook } from "../lib/webhooks/change-webhook.ts";
import { webhookRoutes } from "./routes/webhooks.ts";

/** `PATCH /v1/webhooks/{id}` */
export const { create, handler } = endpoint(
  webhookRoutes.updateWebhook,
  { readBody: readJsonBody, sqs: createSqsClient },
  (runtime) => {
    const { environment } = runtime;
    return async ({ organization, id, body }) => {
      assertUrl(body.webhook.url, environment.WEBHOOKS_TO_LOCALHOST);
      const { webhook, state } = await updateWebhook(runtime, organization, id, body.webhook);
      return { body: { data: toWebhookResponse(webhook, state) } };
    };
  },
);
