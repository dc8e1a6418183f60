import * as z from "zod";
import { storedTimestamp } from "../schema.ts";

/** States of a conversation upload. */
export const conversationUploadStatusSchema = z
  .enum(["pending", "processing", "completed", "failed"])
  .meta({ id: "ConversationUploadStatus", description: "Status of a conversation upload." });

/** A conversation upload as the list returns it. */
export const conversationUploadListItemSchema = z
  .strictObject({
    id: z.string().describe("ID of the conversation upload."),
    status: conversationUploadStatusSchema.describe("Status of the processing."),
    source: z.string().describe("Source of the conversation."),
    external_id: z.string().describe("ID in the system that records conversations."),
    created_at: storedTimestamp.describe("When it was recorded."),
    updated_at: storedTimestamp.describe("When it last changed."),
  })
  .meta({ id: "ConversationUploadListItem", description: "A conversation upload as lists show it." });

/** A single conversation upload as the API returns it. */
export const conversationUploadSchema = conversationUploadListItemSchema
  .omit({ source: true, external_id: true })
  .meta({ id: "ConversationUpload", description: "A conversation upload." });
