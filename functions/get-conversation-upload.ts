import { createConversationUploadStore } from "../lib/conversation-uploads/conversation-upload-store.ts";
import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { routes } from "./routes.ts";

const route = routes.getConversationUpload;

/** `GET /v1/conversation_uploads/{id}` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const store = createConversationUploadStore(runtime);
  return endpoint(route, runtime, async ({ organization, id }) => ({
    body: { data: await store.get(organization.id, id) },
  }));
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
