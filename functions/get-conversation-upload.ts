import { createConversationUploadStore } from "../lib/conversation-uploads/conversation-upload-store.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { conversationUploadRoutes } from "./routes/conversation-uploads.ts";

/** `GET /v1/conversation_uploads/{id}` */
export const { create, handler } = endpoint(conversationUploadRoutes.getConversationUpload, {}, (runtime) => {
  const store = createConversationUploadStore(runtime);
  return async ({ organization, id }) => ({
    body: { data: await store.get(organization.id, id) },
  });
});
