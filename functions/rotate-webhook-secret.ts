import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { generateSecret } from "../lib/webhooks/signature.ts";
import { toWebhookResponse } from "../lib/webhooks/webhook.ts";
import { readWebhook, rotateSecret } from "../lib/webhooks/webhook-store.ts";
import { routes } from "./routes.ts";

const route = routes.rotateWebhookSecret;

/** `POST /v1/webhooks/{id}/rotate_secret` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  return endpoint(route, runtime, async ({ organization, id }) => {
    const key = { organization: organization.id, id };
    const secret = generateSecret();
    await rotateSecret(runtime, key, secret);
    const { webhook, state } = await readWebhook(runtime, key);
    return { body: { data: { ...toWebhookResponse(webhook, state), secret } } };
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
