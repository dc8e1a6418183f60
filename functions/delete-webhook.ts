import { endpoint } from "../lib/http/endpoint.ts";
import { deleteWebhook } from "../lib/webhooks/webhook-store.ts";
import { routes } from "./routes.ts";

/** `DELETE /v1/webhooks/{id}` */
export const { create, handler } = endpoint(routes.deleteWebhook, {}, (runtime) => async ({ organization, id }) => {
  await deleteWebhook(runtime, { organization: organization.id, id });
  return { body: { data: { id, deleted: true } } };
});
