import type { ApiHandler } from "../lib/http/chain.ts";
import { endpointWithBody } from "../lib/http/endpoint.ts";
import { readJsonBody } from "../lib/http/request-body.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { assertUrl, toWebhookResponse } from "../lib/webhooks/webhook.ts";
import { updateWebhook } from "../lib/webhooks/change-webhook.ts";
import { routes } from "./routes.ts";

const route = routes.updateWebhook;

/** `PATCH /v1/webhooks/{id}` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const { environment } = runtime;
  return endpointWithBody(route, runtime, readJsonBody, async ({ organization, id, body }) => {
    assertUrl(body.webhook.url, environment.WEBHOOKS_TO_LOCALHOST);
    const { webhook, state } = await updateWebhook(runtime, { organization: organization.id, id }, body.webhook);
    return { body: { data: toWebhookResponse(webhook, state) } };
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
