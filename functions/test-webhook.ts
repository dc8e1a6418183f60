import { NotFoundError } from "../lib/errors.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { createCallReceiver } from "../lib/webhooks/call-receiver.ts";
import { NO_WEBHOOK, readForCall } from "../lib/webhooks/webhook-store.ts";
import { routes } from "./routes.ts";

/** `POST /v1/webhooks/{id}/test` */
export const { create, handler } = endpoint(routes.testWebhook, {}, (runtime) => {
  const callReceiver = createCallReceiver(runtime);
  return async ({ organization, id, requestId }) => {
    const found = await readForCall(runtime, { organization: organization.id, id });
    if (found === undefined) throw new NotFoundError(NO_WEBHOOK);
    const message = { id: requestId, type: "webhook.test", data: {} } as const;
    const {
      status = null,
      reason = null,
      milliseconds,
    } = await callReceiver(found.webhook.url, message, found.secrets);
    return { body: { data: { status, reason, milliseconds } } };
  };
});
