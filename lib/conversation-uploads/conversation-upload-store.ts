import * as z from "zod";
import { isoTime } from "../clock.ts";
import { decoderOf } from "../store/decode-record.ts";
import { optimisticWriteOne, type WriteTarget } from "../store/optimistic-write.ts";
import { createRecordStore } from "../store/record-store.ts";
import type { Attributes } from "../aws/attribute-values.ts";
import type { RecordKey } from "../store/versioned-record.ts";
import { NotFoundError } from "../errors.ts";
import { conversationUploadId } from "../identity.ts";
import { ALL_SORT_KEYS, readPage } from "../store/lists/page.ts";
import { idFromKey, listingEntry, listingSource } from "../store/lists/partition.ts";
import type { Organization } from "../organizations/organization.ts";
import { partitionKeyOf } from "../resources.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { externalId, storedTimestamp, text } from "../schema.ts";
import { conversationUploadStatusSchema } from "./conversation-upload.ts";

/** What the system that processes conversations sends. */
export const conversationUploadInputSchema = z.strictObject({
  external_id: externalId,
  source: text(),
  status: conversationUploadStatusSchema,
});
/** A value of `conversationUploadInputSchema`. */
export type ConversationUploadInput = z.output<typeof conversationUploadInputSchema>;

/** A conversation upload in its record. */
export const storedUploadSchema = z.object({
  external_id: z.string(),
  source: z.string(),
  status: conversationUploadStatusSchema,
  created_at: storedTimestamp,
  updated_at: storedTimestamp,
});
/** A conversation upload as it is stored. */
export type ConversationUpload = Readonly<z.output<typeof storedUploadSchema>>;
/** Decodes a conversation upload's record. @throws MalformedRecordError */
export const decodeUpload = decoderOf("conversation upload", storedUploadSchema);

/** Primary key of a conversation upload's record. */
export function conversationUploadKey(organization: string, id: string): RecordKey {
  return { pk: partitionKeyOf("CONVERSATION", organization, id), sk: "#CONVERSATION" };
}

/** The attributes of a conversation upload's record: its fields and its entry in the list. */
export function conversationUploadAttributes(
  organization: Pick<Organization, "id" | "listingWriteShards">,
  id: string,
  upload: ConversationUpload,
): Attributes {
  return {
    ...upload,
    ...listingEntry("LIST_CONVERSATION", organization, id, `${upload.created_at}#${id}`),
  };
}

function toListItem(record: Attributes) {
  const { status, source, external_id, created_at, updated_at } = decodeUpload(record);
  return { id: idFromKey(String(record["pk"])), status, source, external_id, created_at, updated_at };
}

/** Reads conversation uploads for API callers, and records those of the system that processes conversations. */
export function createConversationUploadStore(runtime: RuntimeWith<"workItems">) {
  const { clock } = runtime;
  const records = createRecordStore(runtime);

  /** @throws NotFoundError */
  const get = async (organization: string, id: string) => {
    const record = await records.readOne(conversationUploadKey(organization, id));
    if (record === undefined) throw new NotFoundError("conversation upload not found");
    const { status, created_at, updated_at } = decodeUpload(record);
    return { id, status, created_at, updated_at };
  };

  /** Lists conversation uploads, newest first. @throws InvalidInputError for a cursor of another list */
  const list = async (
    organization: Organization,
    query: { readonly limit: number; readonly cursor?: string | undefined; readonly external_id?: string | undefined },
  ) => {
    const keyOf = (id: string) => conversationUploadKey(organization.id, id);
    return readPage(runtime, {
      cursor: query.cursor,
      limit: query.limit,
      scope: { organization, list: "conversation_uploads", filters: { external_id: query.external_id } },
      from:
        query.external_id === undefined
          ? { source: listingSource("LIST_CONVERSATION", organization), filters: {}, range: ALL_SORT_KEYS }
          : keyOf(conversationUploadId(organization.id, query.external_id)),
      keyOf,
      show: toListItem,
    });
  };

  /**
   * Creates the conversation upload or updates its status and source.
   * @param deadline time after which no attempt is made, in milliseconds since the epoch
   * @throws StoreBusyError
   */
  const record = async (
    organization: Pick<Organization, "id" | "listingWriteShards">,
    input: ConversationUploadInput,
    deadline: number,
  ) => {
    const id = conversationUploadId(organization.id, input.external_id);
    const target: WriteTarget<ConversationUpload> = {
      key: conversationUploadKey(organization.id, id),
      plan: (stored) => {
        const before = stored && decodeUpload(stored);
        const now = isoTime(clock());
        const isSame = before?.status === input.status && before.source === input.source;
        const upload: ConversationUpload = {
          ...input,
          created_at: before?.created_at ?? now,
          updated_at: isSame ? before.updated_at : now,
        };
        return { set: isSame ? null : conversationUploadAttributes(organization, id, upload), result: upload };
      },
    };
    const { result } = await optimisticWriteOne(records, target, { clock, deadline });
    return { id, ...result };
  };

  return { get, list, record };
}
