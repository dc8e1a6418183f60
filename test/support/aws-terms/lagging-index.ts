import { setTimeout as sleep } from "node:timers/promises";
import {
  type AttributeValue,
  BatchGetItemCommand,
  type BatchGetItemCommandOutput,
  BatchWriteItemCommand,
  type BatchWriteItemCommandOutput,
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
  ScanCommand,
  type ScanCommandOutput,
  type WriteRequest,
} from "@aws-sdk/client-dynamodb";
import { chunksOf } from "../../../lib/retry.ts";
import type { Faults } from "./faults.ts";
import { type IndexDefinition, type Item, keyOf, type TableDefinition, textOf } from "./tables.ts";
import { partitionIn } from "./touched-items.ts";

/** The longest time until an index shows a write. It is usually a fraction of a second, and can be longer. */
const LAG_MAX_MS = 2000;
/** How much longer entries may wait for the engine before writes have to wait for the index. */
const OVERDUE_MAX_MS = 500;
/** How often the entries that are due are copied. */
const COPY_EVERY_MS = 100;
/** DynamoDB's limits for the items of BatchGetItem and BatchWriteItem. */
const READ_MAX_ITEMS = 100;
const WRITE_MAX_ITEMS = 25;

/**
 * An index as its readers see it: behind its table
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html).
 */
export interface LaggingIndex {
  /** Name of the table to query instead of the index's table. It has an index of the same name. */
  readonly shadow: string;
  /** The partition key value of an item's entry, as text; empty if the index does not show the item. */
  readonly partitionOf: (key: Item) => string;
  /** Shows the current item in the index after the lag. */
  readonly follow: (key: Item) => void;
  /**
   * Whether entries have waited for longer than the lag. DynamoDB throttles the writes of a table whose index cannot
   * follow (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/gsi-throttling.html).
   */
  readonly isBehind: () => boolean;
  /** Waits until the index shows all writes. */
  readonly settled: () => Promise<void>;
}

type Native = Record<string, AttributeValue>;

/** An item whose entry is older than the item. Times are in milliseconds of the process. */
interface Waiting {
  readonly key: Item;
  /** When the index shows it. */
  readonly due: number;
}

/** What an index shows of an item. */
interface Shown {
  readonly partition: string;
  readonly text: string;
}

async function recreateTable(dynamodb: DynamoDBClient, table: string, shadow: string, index: string): Promise<void> {
  const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: table }));
  await dynamodb.send(new DeleteTableCommand({ TableName: shadow })).catch((error: unknown) => {
    if (!(error instanceof ResourceNotFoundException)) throw error;
  });
  const found = Table?.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === index);
  const keys = [...(Table?.KeySchema ?? []), ...(found?.KeySchema ?? [])].map(({ AttributeName }) => AttributeName);
  await dynamodb.send(
    new CreateTableCommand({
      TableName: shadow,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: Table?.KeySchema,
      AttributeDefinitions: Table?.AttributeDefinitions?.filter(({ AttributeName }) => keys.includes(AttributeName)),
      GlobalSecondaryIndexes: [
        { IndexName: index, KeySchema: found?.KeySchema, Projection: { ProjectionType: "ALL" } },
      ],
    }),
  );
}

/** The entry of an item in an index; undefined if the item lacks a key of the index. */
function entryOf(table: TableDefinition, index: IndexDefinition, item: Native | undefined): Native | undefined {
  const keys = [table.partition, table.sort, index.partition, index.sort].filter((name) => name !== undefined);
  if (item === undefined || keys.some((name) => item[name] === undefined)) return undefined;
  const { projection } = index;
  return projection === undefined
    ? item
    : Object.fromEntries(Object.entries(item).filter(([name]) => keys.includes(name) || projection.includes(name)));
}

/** Reads items as they are now, by the text of their keys. */
async function readItems(
  dynamodb: DynamoDBClient,
  table: TableDefinition,
  keys: readonly Item[],
): Promise<Map<string, Native>> {
  const items = new Map<string, Native>();
  for (const chunk of chunksOf(keys, READ_MAX_ITEMS)) {
    let left = chunk as unknown as Native[];
    // A response holds up to 16 MB.
    while (left.length > 0) {
      const RequestItems = { [table.name]: { Keys: left, ConsistentRead: true } };
      const read: BatchGetItemCommandOutput = await dynamodb.send(new BatchGetItemCommand({ RequestItems }));
      for (const item of read.Responses?.[table.name] ?? []) {
        items.set(textOf(keyOf(table, item as unknown as Item)), item);
      }
      left = read.UnprocessedKeys?.[table.name]?.Keys ?? [];
    }
  }
  return items;
}

async function writeEntries(dynamodb: DynamoDBClient, shadow: string, writes: readonly WriteRequest[]): Promise<void> {
  for (const chunk of chunksOf(writes, WRITE_MAX_ITEMS)) {
    let left = chunk;
    while (left.length > 0) {
      const RequestItems = { [shadow]: left };
      const written: BatchWriteItemCommandOutput = await dynamodb.send(new BatchWriteItemCommand({ RequestItems }));
      left = written.UnprocessedItems?.[shadow] ?? [];
    }
  }
}

/**
 * Makes an index lag. Its entries are kept in a table of their own, to which the items that were written are copied some
 * time later: all that are due at once, since a request for each of them would take longer than the writes themselves.
 * One copy follows the other, so that the index never goes back.
 */
export async function createLaggingIndex(
  dynamodb: DynamoDBClient,
  table: TableDefinition,
  index: IndexDefinition,
  faults: Faults,
): Promise<LaggingIndex> {
  const shadow = `${table.name}.${index.name}`;
  /** The entry that is shown of each item. */
  const shown = new Map<string, Shown>();
  /** Items that are not copied yet, in the order of their writes. */
  const waiting = new Map<string, Waiting>();
  let oldestDue = Infinity;
  let copying: Promise<void> | undefined;

  /** The write that shows an item in the index; undefined if the index shows it so already. */
  const writeOf = (key: Item, item: Native | undefined): WriteRequest | undefined => {
    const name = textOf(key);
    const entry = entryOf(table, index, item);
    const text = entry && textOf(entry);
    if (shown.get(name)?.text === text) return undefined;
    if (entry === undefined || text === undefined) {
      shown.delete(name);
      return { DeleteRequest: { Key: key as unknown as Native } };
    }
    shown.set(name, { partition: partitionIn(index, entry as unknown as Item), text });
    return { PutRequest: { Item: entry } };
  };
  const show = (items: Iterable<readonly [key: Item, item: Native | undefined]>): Promise<void> => {
    const writes = [...items].map(([key, item]) => writeOf(key, item)).filter((write) => write !== undefined);
    return writeEntries(dynamodb, shadow, writes);
  };
  const copyDue = async (): Promise<void> => {
    const now = performance.now();
    const due = [...waiting].filter(([, item]) => item.due <= now);
    oldestDue = Math.min(...due.map(([, item]) => item.due));
    // What is written from now on waits for the next copy.
    for (const [name] of due) waiting.delete(name);
    const keys = due.map(([, { key }]) => key);
    const items = await readItems(dynamodb, table, keys);
    await show(keys.map((key) => [key, items.get(textOf(key))]));
    oldestDue = Infinity;
  };
  const copyWaiting = async (): Promise<void> => {
    try {
      while (waiting.size > 0) {
        await copyDue();
        await sleep(COPY_EVERY_MS, undefined, { ref: false });
      }
    } catch {
      // The engine was stopped.
      waiting.clear();
    } finally {
      oldestDue = Infinity;
      copying = undefined;
    }
  };

  await recreateTable(dynamodb, table.name, shadow, index.name);
  let from: Native | undefined;
  do {
    const { Items = [], LastEvaluatedKey }: ScanCommandOutput = await dynamodb.send(
      new ScanCommand({ TableName: table.name, IndexName: index.name, ...(from && { ExclusiveStartKey: from }) }),
    );
    await show(Items.map((item) => [keyOf(table, item as unknown as Item), item]));
    from = LastEvaluatedKey;
  } while (from);

  return {
    shadow,
    partitionOf: (key) => shown.get(textOf(key))?.partition ?? "",
    follow: (key) => {
      const name = textOf(key);
      const due = performance.now() + faults.below(LAG_MAX_MS);
      // An item that waits already is copied as it is then, with this write.
      if (!waiting.has(name)) waiting.set(name, { key, due });
      copying ??= copyWaiting();
    },
    isBehind: () => performance.now() - oldestDue > OVERDUE_MAX_MS,
    settled: async () => copying,
  };
}
