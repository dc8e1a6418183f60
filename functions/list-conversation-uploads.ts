import { createConversationUploadStore } from "../lib/conversation-uploads/conversation-upload-store.ts";
import type { ApiHandler } from "../lib/http/chain.ts";
import { endpoint } from "../lib/http/endpoint.ts";
import { toPage } from "../lib/http/page.ts";
import { createDynamoDbClient } from "../lib/aws/dynamodb-client.ts";
import { lambda, type Runtime } from "../lib/aws/runtime.ts";
import { routes } from "./routes.ts";

const route = routes.listConversationUploads;

/** `GET /v1/conversation_uploads` */
export function create(runtime: Runtime<typeof route.permissions>): ApiHandler {
  const store = createConversationUploadStore(runtime);
  return endpoint(route, runtime, async ({ organization, query }) => {
    const { data, next } = await store.list(organization, query);
    return { body: toPage(data, next, query.limit) };
  });
}

export const handler = lambda(route.permissions, { dynamodb: createDynamoDbClient }, create);
