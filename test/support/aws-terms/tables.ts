import { DescribeTableCommand, type DynamoDBClient, type KeySchemaElement } from "@aws-sdk/client-dynamodb";

/** An item or key as DynamoDB's JSON protocol has it: `{ "pk": { "S": "…" } }`. */
export type Item = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Names of the attributes of a primary key. */
export interface KeyNames {
  readonly partition: string;
  readonly sort: string | undefined;
}

/** An index of a table. */
export interface IndexDefinition extends KeyNames {
  readonly name: string;
  /** Attributes that it holds beside the keys; undefined if it holds all. */
  readonly projection: readonly string[] | undefined;
}

/** A table's keys and indexes. */
export interface TableDefinition extends KeyNames {
  readonly name: string;
  readonly indexes: readonly IndexDefinition[];
}

function keyNamesOf(schema: readonly KeySchemaElement[] = []): KeyNames {
  return {
    partition: schema.find(({ KeyType }) => KeyType === "HASH")?.AttributeName ?? "",
    sort: schema.find(({ KeyType }) => KeyType === "RANGE")?.AttributeName,
  };
}

/** An attribute's value as text, to compare it. */
export function textOf(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

/** The primary key in an item. */
export function keyOf({ partition, sort }: KeyNames, item: Item): Item {
  return {
    ...(item[partition] && { [partition]: item[partition] }),
    ...(sort !== undefined && item[sort] && { [sort]: item[sort] }),
  };
}

/** Reads the definition of a table. @throws ResourceNotFoundException */
export async function describeTable(dynamodb: DynamoDBClient, name: string): Promise<TableDefinition> {
  const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: name }));
  return {
    name,
    ...keyNamesOf(Table?.KeySchema),
    indexes: (Table?.GlobalSecondaryIndexes ?? []).map(({ IndexName = "", KeySchema, Projection }) => ({
      name: IndexName,
      ...keyNamesOf(KeySchema),
      projection: Projection?.ProjectionType === "ALL" ? undefined : (Projection?.NonKeyAttributes ?? []),
    })),
  };
}
