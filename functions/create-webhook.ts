import { randomUUID } from "node:crypto";
import type { ApiHandler } from "../lib/http/chain.ts";
import { endpointWithBody } from "../lib/http/endpoint.ts";
import { parseIdempotencyKey } from "../lib/http/request.ts";
import { readJsonBody } from "../lib/http/request-body.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { idempotentWebhookId } from "../lib/identity.ts";
import { addWebhook } from "../lib/webhooks/change-webhook.ts";
import { assertUrl, newWebhook, toWebhookResponse } from "../lib/webhooks/webhook.ts";
import { routes } from "./routes.ts";

const route = routes.createWebhook;

/** `POST /v1/webhooks` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const { clock, environment } = runtime;
  return endpointWithBody(route, runtime, readJsonBody, async ({ organization, body, headers }) => {
    assertUrl(body.webhook.url, environment.WEBHOOKS_TO_LOCALHOST);
    const idempotencyKey = parseIdempotencyKey(headers);
    const id = idempotencyKey === undefined ? randomUUID() : idempotentWebhookId(organization.id, idempotencyKey);
    const created = await addWebhook(runtime, newWebhook(organization.id, id, body.webhook, clock()));
    return { body: { data: { ...toWebhookResponse(created.webhook, created.state), secret: created.secret } } };
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
