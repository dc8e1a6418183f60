import {
  type AttributeValue,
  CreateTableCommand,
  DeleteItemCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  ResourceNotFoundException,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import type { Faults } from "./faults.ts";
import { type IndexDefinition, type Item, keyOf, type TableDefinition, textOf } from "./tables.ts";
import { partitionIn } from "./touched-items.ts";

/** The longest time until an index shows a write. It is usually a fraction of a second, and can be longer. */
const LAG_MAX_MS = 2000;

/**
 * An index as its readers see it: behind its table
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html).
 */
export interface LaggingIndex {
  /** Name of the table to query in place of the index's table. It has an index of the same name. */
  readonly shadow: string;
  /** The partition key value of an item's entry, as text; empty if the index does not show the item. */
  readonly partitionOf: (key: Item) => string;
  /** Shows the current item in the index after the lag. */
  readonly follow: (key: Item) => void;
  /** Waits until the index shows all writes. */
  readonly settled: () => Promise<void>;
}

type Native = Record<string, AttributeValue>;

const recreateTable = async (dynamodb: DynamoDBClient, table: string, shadow: string, index: string): Promise<void> => {
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
};

/** The entry of an item in an index; undefined if the item lacks a key of the index. */
const entryOf = (table: TableDefinition, index: IndexDefinition, item: Native | undefined): Native | undefined => {
  const keys = [table.partition, table.sort, index.partition, index.sort].filter((name) => name !== undefined);
  if (item === undefined || keys.some((name) => item[name] === undefined)) return undefined;
  const { projection } = index;
  return projection === undefined
    ? item
    : Object.fromEntries(Object.entries(item).filter(([name]) => keys.includes(name) || projection.includes(name)));
};

/**
 * Makes an index lag. Its entries are kept in a table of their own, which is filled from the index's table some time
 * after each write. Entries of one item are written in order, so that the index never goes back.
 */
export const createLaggingIndex = async (
  dynamodb: DynamoDBClient,
  table: TableDefinition,
  index: IndexDefinition,
  faults: Faults,
): Promise<LaggingIndex> => {
  const shadow = `${table.name}.${index.name}`;
  /** The entry that is shown of each item, as text. */
  const shown = new Map<string, { readonly partition: string; readonly text: string }>();
  /** The last copy of each item that is not finished. */
  const copying = new Map<string, Promise<void>>();

  const show = async (key: Item, entry: Native | undefined): Promise<void> => {
    const name = textOf(key);
    const text = entry && textOf(entry);
    if (shown.get(name)?.text === text) return;
    if (entry === undefined || text === undefined) {
      shown.delete(name);
      await dynamodb.send(new DeleteItemCommand({ TableName: shadow, Key: key as unknown as Native }));
    } else {
      shown.set(name, { partition: partitionIn(index, entry as unknown as Item), text });
      await dynamodb.send(new PutItemCommand({ TableName: shadow, Item: entry }));
    }
  };
  const copy = async (key: Item): Promise<void> => {
    const { Item: item } = await dynamodb.send(
      new GetItemCommand({ TableName: table.name, Key: key as unknown as Native, ConsistentRead: true }),
    );
    await show(key, entryOf(table, index, item));
  };

  await recreateTable(dynamodb, table.name, shadow, index.name);
  let from: Native | undefined;
  do {
    const scanned = await dynamodb.send(
      new ScanCommand({ TableName: table.name, IndexName: index.name, ...(from && { ExclusiveStartKey: from }) }),
    );
    for (const item of scanned.Items ?? []) {
      await show(keyOf(table, item as unknown as Item), entryOf(table, index, item));
    }
    from = scanned.LastEvaluatedKey;
  } while (from);

  return {
    shadow,
    partitionOf: (key) => shown.get(textOf(key))?.partition ?? "",
    follow: (key) => {
      const name = textOf(key);
      const { promise: lag, resolve } = Promise.withResolvers<void>();
      setTimeout(resolve, faults.below(LAG_MAX_MS)).unref();
      const copied = Promise.all([copying.get(name), lag])
        .then(() => copy(key))
        // The engine was stopped.
        .catch(() => {})
        .finally(() => {
          if (copying.get(name) === copied) copying.delete(name);
        });
      copying.set(name, copied);
    },
    settled: async () => {
      while (copying.size > 0) await Promise.all(copying.values());
    },
  };
};
