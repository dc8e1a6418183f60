import {
  DeleteCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from "@aws-sdk/lib-dynamodb";
import type { Attributes } from "../aws/attribute-values.ts";
import { isThrottled } from "../aws/error-codes.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { resources } from "../resources.ts";
import { CONFLICT_CAP_MS, mapConcurrently, retry } from "../retry.ts";
import { groupsForTransactions, tryOnce } from "../store/conditional-write.ts";
import { entryInOtherList } from "../store/lists/partition.ts";
import { EVENT_SORT_KEY_PREFIX, ITEM_SORT_KEY } from "./work-item-record.ts";

const ERASING = { attempts: 10, cap: CONFLICT_CAP_MS, message: "others keep changing the work item" };
const CONCURRENT_READS = 25;

/**
 * Records that are read and deleted at once. With the tombstone of an erased item and what `commit` adds, they are a transaction's 100
 * actions. DynamoDB reads no more than 1 MB at once, so they also stay below a transaction's 4 MB.
 */
const RECORDS_AT_ONCE = 98;
const BYTES_PER_READ_UNIT = 4096;
/** What one request reads, if DynamoDB doesn't say it. */
const BYTES_PER_READ = 1024 * 1024;

/**
 * Sort key of the tombstone that an item leaves while its events are being erased. It is listed as a deleted item at the item's place,
 * so that they are found although the item is gone. It goes with the last of them.
 */
const TOMBSTONE_SORT_KEY = "#ERASED";
const { partitionKey: listingKey, sortKey: placeKey } = resources.workItems.indexes.listing;
/** Keys, and what decides: an item may hold 400 KB, and so may each of its events. */
const READ = ["pk", "sk", "version", "created_at", "completed_at", listingKey, placeKey];

/** Actions of one transaction. */
export type Deletions = NonNullable<TransactWriteCommandInput["TransactItems"]>;
/** How many records of each kind. */
export interface ErasedRecords {
  readonly work_items: number;
  readonly events: number;
  /** Of any other kind in the partition of an item. */
  readonly other_records: number;
}
const NONE: ErasedRecords = { work_items: 0, events: 0, other_records: 0 };

/** The sums of two counts. */
function plus(a: ErasedRecords, b: ErasedRecords): ErasedRecords {
  return {
    work_items: a.work_items + b.work_items,
    events: a.events + b.events,
    other_records: a.other_records + b.other_records,
  };
}

export interface EraseItemsOptions {
  /** Whether an item is erased, by its key, version and times. One that isn't keeps its events. @default all are */
  readonly isDue?: (item: Attributes) => boolean;
  /**
   * Carries out deletions, together or not at all; there may be none. What a lost response has carried out is planned again without
   * them, with its count.
   * @returns false if a condition failed or the table was busy. @default sends them
   */
  readonly commit?: (deletions: Deletions, erased: ErasedRecords) => Promise<boolean>;
  /** Called with the read units of each request. */
  readonly onRead?: (units: number) => void;
}

/** What is deleted next of one item. */
interface Step {
  readonly pk: string;
  readonly deletions: Deletions;
  readonly erased: ErasedRecords;
  readonly bytes: number;
  readonly hasMore: boolean;
}

function countOf(records: readonly Attributes[], items: 0 | 1): ErasedRecords {
  const events = records.filter(({ sk }) => String(sk).startsWith(EVENT_SORT_KEY_PREFIX)).length;
  return { work_items: items, events, other_records: records.length - events };
}

/**
 * Makes the function that erases work items, deleted or not, with their events: the one way in which any is erased. The item goes
 * first, on condition that it is as it was read, in one transaction with the first of its events: one that is changed meanwhile
 * keeps all of them. The other events follow, each on condition that the item isn't back: its caller may have found them
 * unchanged. Whatever an item holds, only keys are read, and no more than a hundred are in memory. An erasure that is interrupted
 * is continued by any other. Events that come late, from calls that had read the item, are erased by another call.
 * @returns a function of items' partitions, and of what says whether the time is over: it resolves with what was erased, and the
 * partitions that aren't done then. @throws StoreBusyError, and what `isDue` throws
 */
export function createEraseItems(
  { dynamodb, environment }: Pick<RuntimeWith<"workItems">, "dynamodb" | "environment">,
  { isDue = () => true, commit, onRead = () => undefined }: EraseItemsOptions = {},
) {
  const TableName = environment.WORK_ITEMS_TABLE;

  const send = async (deletions: Deletions): Promise<boolean> => {
    if (deletions.length === 0) return true;
    const [first, second] = deletions;
    const isAlone = first?.Delete !== undefined && second === undefined;
    const command = isAlone
      ? new DeleteCommand(first.Delete!)
      : new TransactWriteCommand({ TransactItems: [...deletions] });
    return (await tryOnce(dynamodb, command)) !== undefined;
  };
  const carryOut = commit ?? send;
  const deletionOf = ({ pk, sk }: Attributes): Deletions[number] => ({ Delete: { TableName, Key: { pk, sk } } });

  /** Reads the first records of a partition. @returns undefined if DynamoDB throttles */
  const readFirst = async (pk: string) => {
    const query = new QueryCommand({
      TableName,
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": pk },
      ProjectionExpression: READ.join(", "),
      ConsistentRead: true,
      Limit: RECORDS_AT_ONCE,
      ReturnConsumedCapacity: "TOTAL",
    });
    const page = await dynamodb.send(query).catch((error: unknown) => {
      if (!isThrottled(error)) throw error;
      return undefined;
    });
    if (page === undefined) return undefined;
    const { Items: records = [], LastEvaluatedKey, ConsumedCapacity } = page;
    const units = ConsumedCapacity?.CapacityUnits;
    onRead(units ?? 0);
    const bytes = units === undefined ? BYTES_PER_READ : units * BYTES_PER_READ_UNIT;
    return { records, bytes, hasMore: LastEvaluatedKey !== undefined };
  };

  /** @param tried what was last tried to erase with the item. @returns undefined if nothing is left; "busy" */
  const plan = async (pk: string, tried: Step | undefined): Promise<Step | "busy" | undefined> => {
    const page = await readFirst(pk);
    if (page === undefined) return "busy";
    const { records, bytes, hasMore } = page;
    const item = records.find(({ sk }) => sk === ITEM_SORT_KEY);
    const tombstone = records.find(({ sk }) => sk === TOMBSTONE_SORT_KEY);
    const others = records.filter((record) => record !== item && record !== tombstone);
    if (item === undefined) {
      // The response was lost: what was tried is gone with the item.
      const lost = tried?.erased ?? NONE;
      if (records.length === 0) {
        return tried && { pk, deletions: [], erased: lost, bytes, hasMore: false };
      }
      const check = { TableName, Key: { pk, sk: ITEM_SORT_KEY }, ConditionExpression: "attribute_not_exists(pk)" };
      const gone = tombstone === undefined || hasMore ? others : [...others, tombstone];
      return {
        pk,
        deletions: [{ ConditionCheck: check }, ...gone.map(deletionOf)],
        erased: plus(lost, countOf(others, 0)),
        bytes,
        hasMore,
      };
    }
    if (!isDue(item)) {
      // It was sent again, and its events are its own.
      return tombstone && { pk, deletions: [deletionOf(tombstone)], erased: NONE, bytes, hasMore: false };
    }
    const { version } = item;
    const condition =
      version === undefined
        ? { ConditionExpression: "attribute_not_exists(version)" }
        : { ConditionExpression: "version = :version", ExpressionAttributeValues: { ":version": version } };
    const place = entryInOtherList("LIST_DELETED_ITEM", item);
    const left = hasMore && place ? [{ Put: { TableName, Item: { pk, sk: TOMBSTONE_SORT_KEY, ...place } } }] : [];
    const gone = tombstone === undefined || hasMore ? others : [...others, tombstone];
    return {
      pk,
      deletions: [
        { Delete: { TableName, Key: { pk, sk: ITEM_SORT_KEY }, ...condition } },
        ...left,
        ...gone.map(deletionOf),
      ],
      erased: countOf(others, 1),
      bytes,
      hasMore,
    };
  };

  return async (partitions: readonly string[], isOver: () => boolean = () => false) => {
    let erased = NONE;
    let left = [...partitions];
    const tried = new Map<string, Step>();
    /** @returns the partitions that aren't done, or undefined if others were writing all of them */
    const step = async (): Promise<string[] | undefined> => {
      const next: string[] = [];
      const planned = await mapConcurrently(left, CONCURRENT_READS, (pk) => plan(pk, tried.get(pk)));
      const steps = planned.flatMap((each, index) => {
        if (each === "busy") next.push(left[index]!);
        return each === undefined || each === "busy" ? [] : each;
      });
      for (const group of groupsForTransactions(steps, (each) => [each.deletions.length, each.bytes])) {
        const count = group.map((each) => each.erased).reduce(plus);
        const isDone = await carryOut(
          group.flatMap(({ deletions }) => deletions),
          count,
        );
        if (isDone) erased = plus(erased, count);
        for (const each of group) {
          if (isDone) tried.delete(each.pk);
          else if (each.erased.work_items > 0) tried.set(each.pk, each);
          if (!isDone || each.hasMore) next.push(each.pk);
        }
      }
      return next.length > 0 && next.length === left.length && erased === before ? undefined : next;
    };
    let before = erased;
    while (left.length > 0 && !isOver()) {
      before = erased;
      left = await retry(ERASING, step);
    }
    return { ...erased, left };
  };
}
/** Erases work items with their events. */
export type EraseItems = ReturnType<typeof createEraseItems>;
