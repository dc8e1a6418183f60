import { GetCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { converge } from "../aws/converge.ts";
import { createRecordStore, keyText } from "../aws/record-store.ts";
import type { Runtime } from "../aws/runtime.ts";
import type { RecordKey, StoredRecord, Versioned } from "../aws/versioned-record.ts";
import { isoTime } from "../clock.ts";
import { NotFoundError, StoreBusyError } from "../errors.ts";
import { externalId, text } from "../fields.ts";
import { conversationUploadId } from "../identity.ts";
import { decodeCursor, encodeCursor } from "../listing/cursor.ts";
import { walkListing } from "../listing/walk-listing.ts";
import type { Organization } from "../organizations/organization.ts";
import { conversationUploadStatusSchema } from "./conversation-upload.ts";

/** What the system that processes conversations records. */
export const conversationUploadInputSchema = z.strictObject({
  external_id: externalId,
  source: text(),
  status: conversationUploadStatusSchema,
});
export type ConversationUploadInput = z.output<typeof conversationUploadInputSchema>;

/** A conversation upload as it is stored. */
export interface ConversationUpload extends ConversationUploadInput {
  readonly created_at: string;
  readonly updated_at: string;
}
interface ConversationUploadRecord extends RecordKey, Versioned, ConversationUpload {}

const LISTING = "LIST_CONVERSATION";
const RECORD_WITHIN_MS = 10_000;

const keyOf = (organization: string, id: string): RecordKey => ({
  pk: `CONVERSATION#${organization}#${id}`,
  sk: "#CONVERSATION",
});
const idOf = ({ pk }: RecordKey): string => pk.slice(pk.lastIndexOf("#") + 1);

const toListItem = (record: ConversationUploadRecord) => ({
  id: idOf(record),
  status: record.status,
  source: record.source,
  external_id: record.external_id,
  created_at: record.created_at,
  updated_at: record.updated_at,
});

type StoreRuntime = Pick<Runtime<{ workItems: { actions: []; keys: [] } }>, "dynamodb" | "clock" | "environment">;

export const createConversationUploadStore = ({ dynamodb, clock, environment }: StoreRuntime) => {
  const table = environment.WORK_ITEMS_TABLE;
  const records = createRecordStore({ dynamodb, table, path: "native" });

  /** @throws NotFoundError */
  const get = async (organization: string, id: string) => {
    const key = keyOf(organization, id);
    const { Item } = await dynamodb.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }));
    if (Item === undefined) throw new NotFoundError("conversation upload not found");
    const { status, created_at, updated_at } = Item as ConversationUploadRecord;
    return { id, status, created_at, updated_at };
  };

  /** Newest first. @throws InvalidInputError for a cursor of another list */
  const list = async (
    organization: Organization,
    query: { readonly limit: number; readonly cursor?: string | undefined; readonly external_id?: string | undefined },
  ) => {
    const scope = { organization, list: "conversation_uploads", filters: { external_id: query.external_id } };
    const after = query.cursor === undefined ? undefined : decodeCursor(scope, query.cursor);
    if (query.external_id !== undefined) {
      const key = keyOf(organization.id, conversationUploadId(organization.id, query.external_id));
      const read = await records.read([key]);
      return { data: ([...read.values()] as unknown as ConversationUploadRecord[]).map(toListItem), next: undefined };
    }
    const { entries, next } = await walkListing({
      dynamodb,
      table,
      kind: LISTING,
      organization,
      filters: {},
      range: { low: "0", high: "~" },
      after,
      limit: query.limit,
    });
    const keys = entries.map(({ pk, sk }) => ({ pk, sk }));
    const read = await records.read(keys);
    const found = keys.flatMap((key) => read.get(keyText(key)) ?? []) as unknown as ConversationUploadRecord[];
    return { data: found.map(toListItem), next: next === undefined ? undefined : encodeCursor(scope, next) };
  };

  /** Creates the upload or moves its status and source. @throws StoreBusyError */
  const record = async (organization: Pick<Organization, "id" | "listingShards">, input: ConversationUploadInput) => {
    const id = conversationUploadId(organization.id, input.external_id);
    const target = {
      key: keyOf(organization.id, id),
      plan: (stored: StoredRecord | undefined) => {
        const before = stored as ConversationUploadRecord | undefined;
        const now = isoTime(clock());
        const created_at = before?.created_at ?? now;
        const same = before?.status === input.status && before.source === input.source;
        const upload: ConversationUpload = { ...input, created_at, updated_at: same ? before.updated_at : now };
        const shard = Number.parseInt(id.slice(0, 8), 16) % organization.listingShards;
        const place = { listing_pk: `${LISTING}#${organization.id}#${shard}`, listing_sk: `${created_at}#${id}` };
        return { set: same ? null : { ...upload, ...place }, result: upload };
      },
    };
    const [converged] = await converge(records, [target], { clock, deadline: clock() + RECORD_WITHIN_MS });
    if (converged === undefined || "error" in converged) throw new StoreBusyError(converged?.error ?? "");
    return { id, ...converged.result };
  };

  return { get, list, record };
};
