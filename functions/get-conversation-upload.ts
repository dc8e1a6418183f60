import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { createConversationUploadStore } from "../lib/conversation-uploads/conversation-upload-store.ts";
import { type ApiHandler, endpoint } from "../lib/http/endpoint.ts";
import { routes } from "./routes.ts";

const route = routes.getConversationUpload;

export const create = (runtime: Runtime<typeof route.touches>): ApiHandler => {
  const store = createConversationUploadStore(runtime);
  return endpoint(route, runtime, async ({ organization, params }) => ({
    body: { data: await store.get(organization.id, params["id"] ?? "") },
  }));
};

export const handler = lambda(route.touches, create);
