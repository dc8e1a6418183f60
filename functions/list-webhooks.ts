import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { logDamaged } from "../lib/store/decode-record.ts";
import { toWebhookResponse } from "../lib/webhooks/webhook.ts";
import { listWithStates } from "../lib/webhooks/webhook-store.ts";
import { routes } from "./routes.ts";

const route = routes.listWebhooks;

/** `GET /v1/webhooks` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  return endpoint(route, runtime, async ({ organization }) => {
    const found = await listWithStates(runtime, organization.id, logDamaged(runtime));
    return { body: { data: found.map(({ webhook, state }) => toWebhookResponse(webhook, state)) } };
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
