import { createSqsClient } from "../lib/aws/sqs-client.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { createSendTest } from "../lib/webhooks/send-test.ts";
import { webhookRoutes } from "./routes/webhooks.ts";

/** `POST /v1/webhooks/{id}/test` */
export const { create, handler } = endpoint(webhookRoutes.testWebhook, { sqs: createSqsClient }, (runtime) => {
  const sendTest = createSendTest(runtime);
  return async ({ organization, id, requestId }) => {
    const outcome = await sendTest({ organization: organization.id, id }, requestId);
    const { status = null, reason = null, milliseconds } = outcome;
    return { body: { data: { status, reason, milliseconds } } };
  };
});
