import { endpoint } from "../lib/http/endpoint.ts";
import { deleteWebhook } from "../lib/webhooks/webhook-store.ts";
import { webhookRoutes } from "./routes/webhooks.ts";

/** `DELETE /v1/webhooks/{id}` */
export const { create, handler } = endpoint(
  webhookRoutes.deleteWebhook,
  {},
  (runtime) =>
    async ({ organization, id }) => {
      await deleteWebhook(runtime, { organization: organization.id, id });
      return { body: { data: { id, deleted: true } } };
    },
);
