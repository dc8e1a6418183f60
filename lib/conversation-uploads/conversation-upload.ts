import * as z from "zod";
import { storedTimestamp } from "../schema.ts";

/** States of a conversation upload. */
export const conversationUploadStatusSchema = z
  .enum(["pending", "processing", "completed", "failed"])
  .meta({ id: "ConversationUploadStatus" });

/** A conversation upload as the list returns it. */
export const conversationUploadListItemSchema = z
  .strictObject({
    id: z.string(),
    status: conversationUploadStatusSchema,
    source: z.string(),
    external_id: z.string(),
    created_at: storedTimestamp,
    updated_at: storedTimestamp,
  })
  .meta({ id: "ConversationUploadListItem" });

/** A single conversation upload as the API returns it. */
export const conversationUploadSchema = conversationUploadListItemSchema

  .omit({ source: true, external_id: true })
  .meta({ id: "ConversationUpload" });
