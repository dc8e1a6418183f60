import { decoderOf } from "../store/decode-record.ts";
import type { Attributes } from "../aws/attribute-values.ts";
import type { RecordKey, StoredRecord } from "../store/versioned-record.ts";
import { workItemEventId, workItemId } from "../identity.ts";
import { agentEntry, idAt, listingEntry } from "../store/lists/partition.ts";
import type { Organization } from "../organizations/organization.ts";
import { partitionKeyOf } from "../resources.ts";
import { storedEventSchema, storedWorkItemSchema, type WorkItem, type WorkItemEvent } from "./work-item.ts";

/** Sort key of an item's record, lower than those of its events. */
export const ITEM_SORT_KEY = "#ITEM";
/** Prefix of the sort keys of an item's events. */
export const EVENT_SORT_KEY_PREFIX = "EVENT#";

/** The partition of an item and its events. */
export function partitionOf(organization: string, id: string): string {
  return partitionKeyOf("ITEM", organization, id);
}

/** Primary key of an item's record, by id. */
export function itemKey(organization: string, id: string): RecordKey {
  return {
    pk: partitionOf(organization, id),
    sk: ITEM_SORT_KEY,
  };
}

/** Primary key of an item's record, by external_id. */
export function itemKeyOf(organization: string, externalId: string): RecordKey {
  return itemKey(organization, workItemId(organization, externalId));
}

/** Primary key of an event's record, by id. */
export function eventKey(organization: string, itemId: string, eventId: string): RecordKey {
  return { pk: partitionOf(organization, itemId), sk: `${EVENT_SORT_KEY_PREFIX}${eventId}` };
}

/** Primary key of an event's record, by external_id. */
export function eventKeyOf(organization: string, itemId: string, eventExternalId: string): RecordKey {
  return eventKey(organization, itemId, workItemEventId(itemId, eventExternalId));
}

/** An item's id, from its partition key. */
export function itemIdOf({ pk }: RecordKey): string {
  return idAt(pk);
}
/** An event's id, from its sort key. */
export function eventIdOf({ sk }: RecordKey): string {
  return idAt(sk);
}

/** Attribute of an item: how many of its writes only noted that others use what an import has made. */
export const UNSEEN_WRITES = "unseen_writes";
export function unseenWritesOf(record: Attributes): number {
  return Number(record[UNSEEN_WRITES] ?? 0);
}
/** The version of an item that callers see: an event of it doesn't change it. 0 if there is no item. */
export function seenVersionOf(record: StoredRecord | undefined): number {
  return record === undefined ? 0 : record.version - unseenWritesOf(record);
}

/** Decodes an item's record. @throws MalformedRecordError */
export const decodeItem = decoderOf("work item", storedWorkItemSchema);
/** Decodes an event's record. @throws MalformedRecordError */
export const decodeEvent = decoderOf("work item event", storedEventSchema);

/** Decodes an item's record; null if there is none. @throws MalformedRecordError */
export function workItemFrom(record: Attributes | undefined): WorkItem | null {
  return record === undefined ? null : decodeItem(record);
}

/** Decodes an event's record; null if there is none. @throws MalformedRecordError */
export function workItemEventFrom(record: StoredRecord | undefined): WorkItemEvent | null {
  return record === undefined ? null : decodeEvent(record);
}

/** An event and its primary key. */
export type KeyedEvent = RecordKey & WorkItemEvent;

/** Decodes an event's record with its primary key. @throws MalformedRecordError */
export function keyedEventFrom(record: StoredRecord): KeyedEvent {
  return {
    pk: record.pk,
    sk: record.sk,
    ...decodeEvent(record),
  };
}

/**
 * Place in the list, which is in descending order: items with `completed_at` before the others, newest first, then by
 * id. `2#<completed_at>#<id>` or `1#<created_at>#<id>`.
 */
function placeOf(item: WorkItem, id: string): string {
  return item.completed_at === null ? `1#${item.created_at}#${id}` : `2#${item.completed_at}#${id}`;
}

/**
 * The attributes of an item's record: its fields, and its places in the lists. A deleted item is in a list of its own, which
 * no caller reads: by it the operator finds everything that an organization owns.
 */
export function attributesOf(organization: Organization, id: string, item: WorkItem): Attributes {
  const isDeleted = item.deleted_at !== null;
  return {
    ...item,
    ...listingEntry(isDeleted ? "LIST_DELETED_ITEM" : "LIST_ITEM", organization, id, placeOf(item, id)),
    ...agentEntry(organization, id, isDeleted ? null : item.agent_external_id),
  };
}
