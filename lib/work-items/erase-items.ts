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
 * Records that are read and deleted at once. With the tombstone and what `commit` adds, they make up a transaction's 100
 * actions. DynamoDB reads at most 1 MB at once, so they stay below a transaction's 4 MB.
 */
const RECORDS_AT_ONCE = 98;
const BYTES_PER_READ_UNIT = 4096;
/** The most that one request reads. Used if DynamoDB doesn't say how much it was. */
const BYTES_PER_READ = 1024 * 1024;

/**
 * Sort key of the tombstone that an item leaves while its events are being erased. The tombstone is listed as a deleted item
 * with the item's sort key, so that the events are found although the item is gone. It is deleted with the last of them.
 */
const TOMBSTONE_SORT_KEY = "#ERASED";
const { listing } = resources.workItems.indexes;
/** Keys, and what decides whether an item is due. Whole items and events may have 400 KB each. */
const READ = ["pk", "sk", "version", "created_at", "completed_at", listing.partitionKey, listing.sortKey];

/** Calls end within this time, frozen or not, since the gateway waits 29 s. */
export const CALLS_END_WITHIN_MS = 30_000;

/** Actions of one transaction. */
export type Deletions = NonNullable<TransactWriteCommandInput["TransactItems"]>;
/** How many records of each kind. */
export interface ErasedRecords {
  readonly work_items: number;
  readonly events: number;
  /** Other records in the partitions of items. */
  readonly other_records: number;
}
const NONE: ErasedRecords = { work_items: 0, events: 0, other_records: 0 };

/** The sum of two counts. */
function plus(a: ErasedRecords, b: ErasedRecords): ErasedRecords {
  return {
    work_items: a.work_items + b.work_items,
    events: a.events + b.events,
    other_records: a.other_records + b.other_records,
  };
}

type EraseRuntime = Pick<RuntimeWith<"workItems">, "dynamodb" | "environment">;

export interface EraseItemsOptions {
  /** Whether an item is erased, by its key, version and times. Others keep their events. @default all are */
  readonly isDue?: (item: Attributes) => boolean;
  /**
   * Carries out all deletions or none; the list may be empty. If the response to a step was lost but the step was carried
   * out, `commit` is called again with the same count and without those deletions.
   * @returns false if a condition failed or the table was busy. @default sends them
   */
  readonly commit?: (deletions: Deletions, erased: ErasedRecords) => Promise<boolean>;
  /** Called with the read units of each request. */
  readonly onRead?: (units: number) => void;
}

/** The next deletions of one item. */
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

/** The first records of a partition. */
interface FirstPage {
  readonly records: readonly Attributes[];
  readonly bytes: number;
  readonly hasMore: boolean;
}

/** Makes the function that reads the first records of a partition, and returns undefined if DynamoDB throttles. */
function createReadFirst(
  { dynamodb, environment }: EraseRuntime,
  onRead: (units: number) => void,
): (pk: string) => Promise<FirstPage | undefined> {
  return async (pk) => {
    const query = new QueryCommand({
      TableName: environment.WORK_ITEMS_TABLE,
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
}

/**
 * The next deletions of an item, by the first records of its partition.
 * @param tried the last step that included the item. @returns undefined if nothing is left
 */
function stepOf(
  TableName: string,
  pk: string,
  { records, bytes, hasMore }: FirstPage,
  tried: Step | undefined,
  isDue: (item: Attributes) => boolean,
): Step | undefined {
  const deletionOf = ({ sk }: Attributes): Deletions[number] => ({ Delete: { TableName, Key: { pk, sk } } });
  const item = records.find(({ sk }) => sk === ITEM_SORT_KEY);
  const tombstone = records.find(({ sk }) => sk === TOMBSTONE_SORT_KEY);
  const others = records.filter((record) => record !== item && record !== tombstone);
  const toDelete = tombstone === undefined || hasMore ? others : [...others, tombstone];
  if (item === undefined) {
    // A step that was tried was carried out, although its response was lost. It is counted now.
    const erasedBefore = tried?.erased ?? NONE;
    if (records.length === 0) {
      return tried && { pk, deletions: [], erased: erasedBefore, bytes, hasMore: false };
    }
    const check = { TableName, Key: { pk, sk: ITEM_SORT_KEY }, ConditionExpression: "attribute_not_exists(pk)" };
    return {
      pk,
      deletions: [{ ConditionCheck: check }, ...toDelete.map(deletionOf)],
      erased: plus(erasedBefore, countOf(others, 0)),
      bytes,
      hasMore,
    };
  }
  if (!isDue(item)) {
    // With a tombstone, the item was created again: its events stay.
    return tombstone && { pk, deletions: [deletionOf(tombstone)], erased: NONE, bytes, hasMore: false };
  }
  const { version } = item;
  const condition =
    version === undefined
      ? { ConditionExpression: "attribute_not_exists(version)" }
      : { ConditionExpression: "version = :version", ExpressionAttributeValues: { ":version": version } };
  const entry = entryInOtherList("LIST_DELETED_ITEM", item);
  const left = hasMore && entry ? [{ Put: { TableName, Item: { pk, sk: TOMBSTONE_SORT_KEY, ...entry } } }] : [];
  return {
    pk,
    deletions: [
      { Delete: { TableName, Key: { pk, sk: ITEM_SORT_KEY }, ...condition } },
      ...left,
      ...toDelete.map(deletionOf),
    ],
    erased: countOf(others, 1),
    bytes,
    hasMore,
  };
}

/**
 * Makes the function that erases work items, deleted or not, with their events. All erasures use it. The first transaction
 * deletes the item, on condition that it hasn't changed, with the first of its events: an item that was changed keeps all of
 * them. The next ones delete the other events, on condition that the item hasn't been created again: its caller may have
 * found them unchanged. Only keys are read, and at most a hundred of an item are in memory. Any later erasure continues an
 * interrupted one. Events that are added later, by calls that had read the item, need another erasure.
 * @returns a function of items' partitions and of `isOver`, whether time has run out. It returns what was erased, and the
 * partitions that are left. @throws StoreBusyError, and errors of `isDue`
 */
export function createEraseItems(
  runtime: EraseRuntime,
  { isDue = () => true, commit, onRead = () => undefined }: EraseItemsOptions = {},
) {
  const TableName = runtime.environment.WORK_ITEMS_TABLE;
  const readFirst = createReadFirst(runtime, onRead);

  const send = async (deletions: Deletions): Promise<boolean> => {
    if (deletions.length === 0) return true;
    const [first, second] = deletions;
    const isAlone = first?.Delete !== undefined && second === undefined;
    const command = isAlone
      ? new DeleteCommand(first.Delete!)
      : new TransactWriteCommand({ TransactItems: [...deletions] });
    return (await tryOnce(runtime.dynamodb, command)) !== undefined;
  };
  const carryOut = commit ?? send;
  /** @returns undefined if nothing is left; "busy" after throttling */
  const plan = async (pk: string, tried: Step | undefined): Promise<Step | "busy" | undefined> => {
    const page = await readFirst(pk);
    return page === undefined ? "busy" : stepOf(TableName, pk, page, tried, isDue);
  };

  return async (partitions: readonly string[], isOver: () => boolean = () => false) => {
    let erased = NONE;
    let left = [...partitions];
    const tried = new Map<string, Step>();
    /** @returns the partitions that aren't done; undefined to retry, if others were writing all of them */
    const step = async (): Promise<string[] | undefined> => {
      const next: string[] = [];
      const planned = await mapConcurrently(left, CONCURRENT_READS, (pk) => plan(pk, tried.get(pk)));
      const steps: Step[] = [];
      for (const [index, plannedStep] of planned.entries()) {
        if (plannedStep === "busy") next.push(left[index]!);
        else if (plannedStep !== undefined) steps.push(plannedStep);
      }
      for (const group of groupsForTransactions(steps, (part) => [part.deletions.length, part.bytes])) {
        const count = group.map((part) => part.erased).reduce(plus);
        const isDone = await carryOut(
          group.flatMap(({ deletions }) => deletions),
          count,
        );
        if (isDone) erased = plus(erased, count);
        for (const part of group) {
          if (isDone) tried.delete(part.pk);
          else if (part.erased.work_items > 0) tried.set(part.pk, part);
          if (!isDone || part.hasMore) next.push(part.pk);
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
