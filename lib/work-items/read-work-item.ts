import { QueryCommand } from "@aws-sdk/client-dynamodb";
import { type AttributeValues, fromAttributeValues, toAttributeValues } from "../aws/attribute-values.ts";
import { createRecordStore } from "../store/record-store.ts";
import { logDamaged, unlessDamaged } from "../store/decode-record.ts";
import { type StoredRecord, storedRecordFrom } from "../store/versioned-record.ts";
import { NotFoundError } from "../errors.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import type { WorkItem } from "./work-item.ts";
import {
  EVENT_SORT_KEY_PREFIX,
  itemKey,
  ITEM_SORT_KEY,
  type KeyedEvent,
  keyedEventFrom,
  partitionOf,
  shownVersionOf,
  workItemFrom,
} from "./work-item-record.ts";

/** An item and the events that were read with it. */
export interface ItemWithEvents {
  readonly id: string;
  readonly item: WorkItem;
  readonly version: number;
  /** In the order of their keys. */
  readonly events: readonly KeyedEvent[];
  /** Sort key at which reading stopped; undefined if there are no more. */
  readonly eventsAfter: string | undefined;
}

/** Whether one write made the item and its events, and nothing has changed them since. */
function isUntouched(item: StoredRecord | undefined, events: readonly AttributeValues[]): boolean {
  return item?.version === 1 && events.every(({ writes }) => writes?.S === item.writes);
}

/** The item in a record. @throws NotFoundError if it doesn't exist or is deleted */
export function assertVisible(record: StoredRecord | undefined): WorkItem {
  const item = workItemFrom(record);
  if (item === null || item.deleted_at !== null) throw new NotFoundError("work item not found");
  return item;
}

/** Above the sort keys of all events, below those of later kinds: `$` follows `#`. */
const AFTER_EVENTS = "EVENT$";

function sortKeyOf(item: AttributeValues): string {
  return item["sk"]?.S ?? "";
}
function recordFrom(item: AttributeValues): StoredRecord {
  return storedRecordFrom(fromAttributeValues(item));
}
function isEvent(item: AttributeValues): boolean {
  return sortKeyOf(item).startsWith(EVENT_SORT_KEY_PREFIX);
}
/** Damaged events are left out, so that the item can still be read. */
function eventsIn(items: readonly AttributeValues[], runtime: Pick<RuntimeWith<never>, "log">): KeyedEvent[] {
  const onDamaged = logDamaged(runtime);
  return items
    .filter(isEvent)
    .map((item) => unlessDamaged(() => keyedEventFrom(recordFrom(item)), onDamaged))
    .filter((event) => event !== undefined);
}

/** The sort key after which unread events begin. @param stoppedAt the one at which a query stopped */
function lastEventKey(stoppedAt: string | undefined): string | undefined {
  return stoppedAt !== undefined && stoppedAt < EVENT_SORT_KEY_PREFIX ? EVENT_SORT_KEY_PREFIX : stoppedAt;
}

/**
 * Reads an item and as many of its events as one strongly consistent Query returns (1 MB), which is nearly always all of
 * them. Records of other kinds in its partition are left out.
 */
export function createReadItemPage(runtime: RuntimeWith<"workItems">) {
  const { dynamodb, environment } = runtime;
  return async (organization: string, id: string) => {
    const { Items = [], LastEvaluatedKey } = await dynamodb.send(
      new QueryCommand({
        TableName: environment.WORK_ITEMS_TABLE,
        ConsistentRead: true,
        KeyConditionExpression: "pk = :pk AND sk BETWEEN :item AND :end",
        ExpressionAttributeValues: toAttributeValues({
          ":pk": partitionOf(organization, id),
          ":item": ITEM_SORT_KEY,
          ":end": AFTER_EVENTS,
        }),
      }),
    );
    const item = Items.find((one) => sortKeyOf(one) === ITEM_SORT_KEY);
    const record = item && recordFrom(item);
    return {
      /** The item's record, which may be soft-deleted; undefined if it doesn't exist. */
      record,
      isUntouched: isUntouched(record, Items.filter(isEvent)),
      events: eventsIn(Items, runtime),
      eventsAfter: lastEventKey(LastEvaluatedKey?.["sk"]?.S),
    };
  };
}

/**
 * Reads an item with its events, and whether they are unchanged since one write made them all.
 * @throws NotFoundError if it doesn't exist or is deleted
 */
export function createGetWorkItem(runtime: RuntimeWith<"workItems">) {
  const readItemPage = createReadItemPage(runtime);
  return async (organization: string, id: string): Promise<ItemWithEvents & { readonly isUntouched: boolean }> => {
    const { record, ...page } = await readItemPage(organization, id);
    return { id, item: assertVisible(record), version: shownVersionOf(record), ...page };
  };
}

/** Reads a page of an item's events, in the order of their keys. @throws NotFoundError */
export function createListWorkItemEvents(runtime: RuntimeWith<"workItems">) {
  const { dynamodb, environment } = runtime;
  const records = createRecordStore(runtime);
  /** @param after sort key of the last event on the previous page */
  return async (
    organization: string,
    id: string,
    after: string | undefined,
    limit: number,
  ): Promise<Pick<ItemWithEvents, "events" | "eventsAfter">> => {
    const pk = partitionOf(organization, id);
    const [owner, { Items = [], LastEvaluatedKey }] = await Promise.all([
      records.readOne(itemKey(organization, id)),
      dynamodb.send(
        new QueryCommand({
          TableName: environment.WORK_ITEMS_TABLE,
          ConsistentRead: true,
          KeyConditionExpression: "pk = :pk AND begins_with(sk, :events)",
          ExpressionAttributeValues: toAttributeValues({ ":pk": pk, ":events": EVENT_SORT_KEY_PREFIX }),
          ExclusiveStartKey: after === undefined ? undefined : toAttributeValues({ pk, sk: after }),
          Limit: limit,
        }),
      ),
    ]);
    assertVisible(owner);
    return {
      events: eventsIn(Items, runtime),
      eventsAfter: LastEvaluatedKey?.["sk"]?.S,
    };
  };
}
