import * as z from "zod";
import {
  conversationUploadListItemSchema,
  conversationUploadSchema,
} from "../../lib/conversation-uploads/conversation-upload.ts";
import { pageOf, pageParameters } from "../../lib/http/pagination.ts";
import { route, routesOf } from "../../lib/http/route.ts";
import { externalId } from "../../lib/schema.ts";
import { examples } from "./examples.ts";
import { examplePage, linksById, LISTS, nextPage } from "./operation.ts";

/** Endpoints of conversation uploads. */
export const conversationUploadRoutes = routesOf({
  listConversationUploads: () =>
    route({
      method: "GET",
      path: "/v1/conversation_uploads",
      summary: "List conversation uploads, newest first",
      scopes: ["read"],
      query: z.strictObject({
        ...pageParameters(),
        external_id: externalId.optional().describe("Only the result with this `external_id`."),
      }),
      response: pageOf(conversationUploadListItemSchema),
      permissions: {
        workItems: {
          actions: ["Query", "BatchGetItem"],
          partitions: ["CONVERSATION", "LIST_CONVERSATION"],
          indexes: ["listing"],
        },
      },
      document: () => ({
        description: `Conversation uploads, newest first. ${LISTS}`,
        response: "A page of conversation uploads.",
        example: examplePage([examples.listedConversation]),
        links: {
          ...nextPage("listConversationUploads"),
          ...linksById("$response.body#/data/0/id", "getConversationUpload"),
        },
      }),
    }),
  getConversationUpload: () =>
    route({
      method: "GET",
      path: "/v1/conversation_uploads/{id}",
      summary: "Get a conversation upload",
      scopes: ["read"],
      response: z.strictObject({ data: conversationUploadSchema }),
      permissions: { workItems: { actions: ["GetItem"], partitions: ["CONVERSATION"] } },
      document: () => ({
        description: "Another system creates conversation uploads.",
        id: examples.ids.conversation,
        response: "The conversation upload.",
        example: { data: examples.conversation },
      }),
    }),
});
