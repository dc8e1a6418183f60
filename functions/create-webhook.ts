import { randomUUID } from "node:crypto";
import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { contentHash } from "../lib/content-hash.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { parseIdempotencyKey } from "../lib/http/request.ts";
import { readJsonBody } from "../lib/http/request-body.ts";
import { idempotentWebhookId } from "../lib/identity.ts";
import { addWebhook } from "../lib/webhooks/change-webhook.ts";
import { assertUrl, newWebhook, toWebhookResponse } from "../lib/webhooks/webhook.ts";
import { webhookRoutes } from "./routes/webhooks.ts";

/** `POST /v1/webhooks` */
export const { create, handler } = endpoint(
  webhookRoutes.createWebhook,
  { readBody: readJsonBody, sqs: createSqsClient },
  (runtime) => {
    const { clock, environment } = runtime;
    return async ({ organization, body, headers }) => {
      assertUrl(body.webhook.url, environment.WEBHOOKS_TO_LOCALHOST);
      const idempotencyKey = parseIdempotencyKey(headers);
      const id = idempotencyKey === undefined ? randomUUID() : idempotentWebhookId(organization.id, idempotencyKey);
      const request = idempotencyKey === undefined ? undefined : contentHash(body);
      const created = await addWebhook(
        runtime,
        organization,
        newWebhook(organization.id, id, body.webhook, clock()),
        request,
      );
      return { body: { data: { ...toWebhookResponse(created.webhook, created.state), secret: created.secret } } };
    };
  },
);
