import { decoderOf } from "../store/decode-record.ts";
import type { Attributes } from "../aws/attribute-values.ts";
import type { RecordKey, StoredRecord } from "../store/versioned-record.ts";
import { workItemEventId, workItemId } from "../identity.ts";
import { agentEntry, idFromKey, listingEntry } from "../store/lists/partition.ts";
import type { Organization } from "../organizations/organization.ts";
import { partitionKeyOf } from "../resources.ts";
import { storedEventSchema, storedWorkItemSchema, type WorkItem, type WorkItemEvent } from "./work-item.ts";

/** Sort key of an item's record, lower than those of its events. */
export const ITEM_SORT_KEY = "#ITEM";
const ITEM_PREFIX = partitionKeyOf("ITEM", "");
/** Prefix of the sort keys of an item's events. */
export const EVENT_SORT_KEY_PREFIX = "EVENT#";

/** The partition of an item and its events. */
export function partitionOf(organization: string, id: string): string {
  return partitionKeyOf("ITEM", organization, id);
}

/** Primary key of an item's record, by id. */
export function itemKey(organization: string, id: string): RecordKey {
  return { pk: partitionOf(organization, id), sk: ITEM_SORT_KEY };
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

export function isEventKey({ pk, sk }: RecordKey): boolean {
  return pk.startsWith(ITEM_PREFIX) && sk.startsWith(EVENT_SORT_KEY_PREFIX);
}

/** An item's id, from its partition key. */
export function itemIdOf({ pk }: RecordKey): string {
  return idFromKey(pk);
}
/** An event's id, from its sort key. */
export function eventIdOf({ sk }: RecordKey): string {
  return idFromKey(sk);
}

/** Attribute of an item: how many of its writes only updated its layers because an event changed. */
export const EVENT_WRITES = "event_writes";
export function eventWritesOf(record: Attributes): number {
  return Number(record[EVENT_WRITES] ?? 0);
}
/** The version that callers see. Changes of events don't change it. 0 if there is no item. */
export function shownVersionOf(record: StoredRecord | undefined): number {
  return record === undefined ? 0 : record.version - eventWritesOf(record);
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
  return { pk: record.pk, sk: record.sk, ...decodeEvent(record) };
}

/**
 * Sort key in the list, which is in descending order: items with `completed_at` before the others, newest first, then by
 * id. `2#<completed_at>#<id>` or `1#<created_at>#<id>`.
 */
function sortKeyOf(item: WorkItem, id: string): string {
  return item.completed_at === null ? `1#${item.created_at}#${id}` : `2#${item.completed_at}#${id}`;
}

/**
 * The attributes of an item's record: its fields, and its entries in the lists. Deleted items have their own list, which
 * callers can't read. With it, operators find everything that an organization owns.
 */
export function attributesOf(organization: Organization, id: string, item: WorkItem): Attributes {
  const isDeleted = item.deleted_at !== null;
  return {
    ...item,
    ...listingEntry(isDeleted ? "LIST_DELETED_ITEM" : "LIST_ITEM", organization, id, sortKeyOf(item, id)),
    ...agentEntry(organization, id, isDeleted ? null : item.agent_external_id),
  };
}
