import * as z from "zod";
import { storedTimestamp } from "../scalars.ts";

export const conversationUploadStatusSchema = z
  .enum(["pending", "processing", "completed", "failed"])
  .meta({ id: "ConversationUploadStatus" });

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

export const conversationUploadSchema = z
  .strictObject({
    id: z.string(),
    status: conversationUploadStatusSchema,
    created_at: storedTimestamp,
    updated_at: storedTimestamp,
  })
  .meta({ id: "ConversationUpload" });
