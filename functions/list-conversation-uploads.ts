import { createConversationUploadStore } from "../lib/conversation-uploads/conversation-upload-store.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { toPage } from "../lib/http/pagination.ts";
import { conversationUploadRoutes } from "./routes/conversation-uploads.ts";

/** `GET /v1/conversation_uploads` */
export const { create, handler } = endpoint(conversationUploadRoutes.listConversationUploads, {}, (runtime) => {
  const store = createConversationUploadStore(runtime);
  return async ({ organization, query }) => {
    const { data, next } = await store.list(organization, query);
    return { body: toPage(data, next, query.limit) };
  };
});
