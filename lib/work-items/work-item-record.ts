import { decoderOf } from "../dynamodb/decode-record.ts";
import type { Attributes, RecordKey, StoredRecord } from "../dynamodb/versioned-record.ts";
import { workItemEventId, workItemId } from "../identity.ts";
import { listingEntry, NO_LISTING_ENTRY } from "../listing/partition.ts";
import type { Organization } from "../organizations/organization.ts";
import { partitionKeyOf } from "../resources.ts";
import { storedEventSchema, storedWorkItemSchema, type WorkItem, type WorkItemEvent } from "./work-item.ts";

export const ITEM_SORT_KEY = "#ITEM";
export const EVENT_SORT_KEY_PREFIX = "EVENT#";

/** The partition of an item and its events. */
export const partitionOf = (organization: string, id: string): string => partitionKeyOf("ITEM", organization, id);

export const itemKey = (organization: string, id: string): RecordKey => ({
  pk: partitionOf(organization, id),
  sk: ITEM_SORT_KEY,
});

export const itemKeyOf = (organization: string, externalId: string): RecordKey =>
  itemKey(organization, workItemId(organization, externalId));

export const eventKeyOf = (organization: string, itemId: string, eventExternalId: string): RecordKey => ({
  pk: partitionOf(organization, itemId),
  sk: `${EVENT_SORT_KEY_PREFIX}${workItemEventId(itemId, eventExternalId)}`,
});

const afterLastHash = (key: string): string => key.slice(key.lastIndexOf("#") + 1);
/** The item's id, which is the end of its partition key. */
export const itemIdOf = ({ pk }: RecordKey): string => afterLastHash(pk);
/** The event's id, which is the end of its sort key. */
export const eventIdOf = ({ sk }: RecordKey): string => afterLastHash(sk);

const decodeItem = decoderOf("work item", storedWorkItemSchema);
const decodeEvent = decoderOf("work item event", storedEventSchema);

/** The stored fields that rules read; null where there is no such item. @throws MalformedRecordError */
export const workItemFrom = (record: StoredRecord | undefined): WorkItem | null =>
  record === undefined ? null : decodeItem(record);

/** Null where there is no such event. @throws MalformedRecordError */
export const workItemEventFrom = (record: StoredRecord | undefined): WorkItemEvent | null =>
  record === undefined ? null : decodeEvent(record);

/** An event and where it is stored. */
export type KeyedEvent = RecordKey & WorkItemEvent;

/** @throws MalformedRecordError */
export const keyedEventFrom = (record: StoredRecord): KeyedEvent => ({
  pk: record.pk,
  sk: record.sk,
  ...decodeEvent(record),
});

/**
 * Place in the list, descending: items with `completed_at` before the others, newest first, ties by id.
 * `2#<completed_at>#<id>` or `1#<created_at>#<id>`.
 */
const placeOf = (item: WorkItem, id: string): string =>
  item.completed_at === null ? `1#${item.created_at}#${id}` : `2#${item.completed_at}#${id}`;

/** The attributes of an item's record: its fields, and its place in the list while it is not deleted. */
export const attributesOf = (organization: Organization, id: string, item: WorkItem): Attributes => ({
  ...item,
  ...(item.deleted_at === null ? listingEntry("LIST_ITEM", organization, id, placeOf(item, id)) : NO_LISTING_ENTRY),
});
