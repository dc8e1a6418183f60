import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { toWebhookResponse } from "../lib/webhooks/webhook.ts";
import { readWebhook } from "../lib/webhooks/webhook-store.ts";
import { routes } from "./routes.ts";

const route = routes.getWebhook;

/** `GET /v1/webhooks/{id}` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  return endpoint(route, runtime, async ({ organization, id }) => {
    const { webhook, state } = await readWebhook(runtime, { organization: organization.id, id });
    return { body: { data: toWebhookResponse(webhook, state) } };
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
