import { randomUUID } from "node:crypto";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  BatchWriteCommand,
  DynamoDBDocumentClient,
  QueryCommand,
} from "@aws-sdk/lib-dynamodb";
import { itemOf } from "./uploads-data.ts";

/**
 * The same work by the bare SDK: the requests that the service would send, with statements and keys made beforehand,
 * without HTTP, identity, validation, limits and logs. Its items have the attributes of the service's records.
 */
export interface Floors {
  /** Creates items by 4 statements for each 25 of 100. */
  readonly insert: (prefix: string) => () => Promise<void>;
  /** One BatchGetItem of 100 items and four BatchExecuteStatement of 25 conditional updates. */
  readonly update: (prefix: string) => () => Promise<void>;
  /** One BatchGetItem of 100 items. */
  readonly readBatch: (prefix: string) => () => Promise<void>;
  /** One strongly consistent Query that finds an item. */
  readonly get: (prefix: string) => () => Promise<void>;
  /** One Query that reads 100 full items. */
  readonly list: (prefix: string) => () => Promise<void>;
}

const ITEMS = 100;
const STATEMENTS = 25;
const ORGANIZATION = "floor";

const partition = (prefix: string, index: number): string => `ITEM#${ORGANIZATION}#${prefix}-${index}`;

/** An item as the service stores it. */
const recordOf = (prefix: string, index: number, version: number) => {
  const { custom_attributes: attributes, ...fields } = itemOf(prefix, index);
  return {
    ...fields,
    agent_external_id: `agent-${index % 50}`,
    custom_attributes: JSON.stringify(attributes),
    created_at: "2026-01-31T09:30:00.000Z",
    updated_at: "2026-01-31T09:30:00.000Z",
    listing_pk: `LIST_ITEM#${ORGANIZATION}#0`,
    listing_sk: `2#${fields.completed_at}#${prefix}-${index}`,
    version,
    writes: `${version}:abcdefgh`,
  };
};

const chunksOfStatements = <T>(statements: readonly T[]): T[][] =>
  Array.from({ length: statements.length / STATEMENTS }, (_, chunk) =>
    statements.slice(chunk * STATEMENTS, (chunk + 1) * STATEMENTS),
  );

const indexes = Array.from({ length: ITEMS }, (_, index) => index);

/** Makes the floor's own table. */
export const createFloors = async (): Promise<Floors> => {
  const client = new DynamoDBClient({});
  const dynamodb = DynamoDBDocumentClient.from(client);
  const table = `floor-${randomUUID()}`;
  const [HASH, RANGE, S] = ["HASH", "RANGE", "S"] as const;
  await client.send(
    new CreateTableCommand({
      TableName: table,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [
        { AttributeName: "pk", KeyType: HASH },
        { AttributeName: "sk", KeyType: RANGE },
      ],
      AttributeDefinitions: [
        { AttributeName: "pk", AttributeType: S },
        { AttributeName: "sk", AttributeType: S },
        { AttributeName: "listing_pk", AttributeType: S },
        { AttributeName: "listing_sk", AttributeType: S },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: "listing",
          KeySchema: [
            { AttributeName: "listing_pk", KeyType: HASH },
            { AttributeName: "listing_sk", KeyType: RANGE },
          ],
          Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["agent_external_id", "type", "status"] },
        },
      ],
    }),
  );

  const send = async (statements: readonly { Statement: string; Parameters: unknown[] }[]): Promise<void> => {
    const sent = chunksOfStatements(statements).map(async (chunk) => {
      const { Responses = [] } = await dynamodb.send(new BatchExecuteStatementCommand({ Statements: chunk }));
      if (Responses.length !== chunk.length || Responses.some((response) => response.Error)) {
        throw new Error(`a write of the floor failed: ${JSON.stringify(Responses.find(({ Error: error }) => error))}`);
      }
    });
    await Promise.all(sent);
  };
  const readBatch = (prefix: string) => async (): Promise<void> => {
    const Keys = indexes.map((index) => ({ pk: partition(prefix, index), sk: "#ITEM" }));
    const { Responses } = await dynamodb.send(
      new BatchGetCommand({ RequestItems: { [table]: { Keys, ConsistentRead: true } } }),
    );
    if (Responses?.[table]?.length !== ITEMS) throw new Error("the floor read too few items");
  };
  const insertStatement = (prefix: string, index: number) => {
    const record = { pk: partition(prefix, index), sk: "#ITEM", ...recordOf(prefix, index, 1) };
    const values = Object.keys(record).map((name) => `'${name}': ?`);
    return { Statement: `INSERT INTO "${table}" VALUE {${values.join(", ")}}`, Parameters: Object.values(record) };
  };
  const updateStatement = (prefix: string, index: number, version: number) => {
    const record = recordOf(prefix, index, version + 1);
    const sets = Object.keys(record).map((name) => `"${name}" = ?`);
    return {
      Statement: `UPDATE "${table}" SET ${sets.join(", ")} WHERE "pk" = ? AND "sk" = ? AND "version" = ?`,
      Parameters: [...Object.values(record), partition(prefix, index), "#ITEM", version],
    };
  };
  const versions = new Map<string, number>();
  return {
    insert: (prefix) => {
      const statements = indexes.map((index) => insertStatement(prefix, index));
      return () => send(statements);
    },
    update: (prefix) => {
      const read = readBatch(prefix);
      const version = versions.get(prefix) ?? 1;
      versions.set(prefix, version + 1);
      const statements = indexes.map((index) => updateStatement(prefix, index, version));
      return async () => {
        await read();
        await send(statements);
      };
    },
    readBatch,
    get: (prefix) => async () => {
      const { Items = [] } = await dynamodb.send(
        new QueryCommand({
          TableName: table,
          ConsistentRead: true,
          KeyConditionExpression: "pk = :pk",
          ExpressionAttributeValues: { ":pk": partition(prefix, 0) },
        }),
      );
      if (Items.length !== 1) throw new Error("the floor found no item");
    },
    list: (prefix) => {
      const listed = `LIST#${prefix}`;
      const filled = (async () => {
        for (const start of [0, 25, 50, 75]) {
          const puts = indexes.slice(start, start + 25).map((index) => {
            const { listing_pk: _, listing_sk: sk, ...record } = recordOf(prefix, index, 1);
            return { PutRequest: { Item: { pk: listed, sk, ...record } } };
          });
          await dynamodb.send(new BatchWriteCommand({ RequestItems: { [table]: puts } }));
        }
      })();
      return async () => {
        await filled;
        const { Items = [] } = await dynamodb.send(
          new QueryCommand({
            TableName: table,
            ScanIndexForward: false,
            KeyConditionExpression: "pk = :pk",
            ExpressionAttributeValues: { ":pk": listed },
            Limit: ITEMS,
          }),
        );
        if (Items.length !== ITEMS) throw new Error("the floor read too few items");
      };
    },
  };
};
