import { NotFoundError } from "../lib/errors.ts";
import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createCallReceiver } from "../lib/webhooks/call-receiver.ts";
import { NO_WEBHOOK, readForCall } from "../lib/webhooks/webhook-store.ts";
import { routes } from "./routes.ts";

const route = routes.testWebhook;

/** `POST /v1/webhooks/{id}/test` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const callReceiver = createCallReceiver(runtime);
  return endpoint(route, runtime, async ({ organization, id, requestId }) => {
    const found = await readForCall(runtime, { organization: organization.id, id });
    if (found === undefined) throw new NotFoundError(NO_WEBHOOK);
    const message = { id: requestId, type: "webhook.test", data: {} } as const;
    const {
      status = null,
      reason = null,
      milliseconds,
    } = await callReceiver(found.webhook.url, message, found.secrets);
    return { body: { data: { status, reason, milliseconds } } };
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
