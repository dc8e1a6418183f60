import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  BatchWriteCommand,
  DynamoDBDocumentClient,
  QueryCommand,
} from "@aws-sdk/lib-dynamodb";
import { chunksOf } from "../../lib/retry.ts";
import type { TestRuntime } from "../support/runtime.ts";
import { itemOf } from "./items.ts";

const ITEMS = 100;
/** The most that DynamoDB takes in one request. */
const WRITES_AT_ONCE = 25;
const ORGANIZATION = "floor";
const indexes = Array.from({ length: ITEMS }, (_, index) => index);

interface Statement {
  readonly Statement: string;
  readonly Parameters: unknown[];
}

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

/**
 * The same work by the bare SDK, in the service's table: the requests that the service would send, with statements and keys
 * made beforehand, without HTTP, identity, validation, limits and logs.
 */
export const createFloors = ({ environment }: Pick<TestRuntime, "environment">) => {
  const dynamodb = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const table = environment.WORK_ITEMS_TABLE;

  const send = async (statements: readonly Statement[]): Promise<void> => {
    const sent = chunksOf(statements, WRITES_AT_ONCE).map(async (Statements) => {
      const { Responses = [] } = await dynamodb.send(new BatchExecuteStatementCommand({ Statements }));
      const failed = Responses.find((response) => response.Error);
      if (failed) throw new Error(`a write of the floor failed: ${JSON.stringify(failed)}`);
    });
    await Promise.all(sent);
  };
  const query = async (values: object): Promise<void> => {
    const { Items = [] } = await dynamodb.send(
      new QueryCommand({ TableName: table, KeyConditionExpression: "pk = :pk", ...values }),
    );
    if (Items.length === 0) throw new Error("the floor found nothing");
  };
  const readBatch = (prefix: string) => async (): Promise<void> => {
    const Keys = indexes.map((index) => ({ pk: partition(prefix, index), sk: "#ITEM" }));
    const { Responses } = await dynamodb.send(
      new BatchGetCommand({ RequestItems: { [table]: { Keys, ConsistentRead: true } } }),
    );
    if (Responses?.[table]?.length !== ITEMS) throw new Error("the floor read too few items");
  };
  const insertStatement = (prefix: string, index: number): Statement => {
    const record = { pk: partition(prefix, index), sk: "#ITEM", ...recordOf(prefix, index, 1) };
    const values = Object.keys(record).map((name) => `'${name}': ?`);
    return { Statement: `INSERT INTO "${table}" VALUE {${values.join(", ")}}`, Parameters: Object.values(record) };
  };
  const updateStatement = (prefix: string, index: number, version: number): Statement => {
    const record = recordOf(prefix, index, version + 1);
    const sets = Object.keys(record).map((name) => `"${name}" = ?`);
    return {
      Statement: `UPDATE "${table}" SET ${sets.join(", ")} WHERE "pk" = ? AND "sk" = ? AND "version" = ?`,
      Parameters: [...Object.values(record), partition(prefix, index), "#ITEM", version],
    };
  };
  const versions = new Map<string, number>();
  return {
    /** Creates 100 items by four BatchExecuteStatement of 25. */
    insert: (prefix: string) => {
      const statements = indexes.map((index) => insertStatement(prefix, index));
      return () => send(statements);
    },
    /** One BatchGetItem of 100 items and four BatchExecuteStatement of 25 conditional updates. */
    update: (prefix: string) => {
      const read = readBatch(prefix);
      const version = versions.get(prefix) ?? 1;
      versions.set(prefix, version + 1);
      const statements = indexes.map((index) => updateStatement(prefix, index, version));
      return async () => {
        await read();
        await send(statements);
      };
    },
    /** One BatchGetItem of 100 items. */
    readBatch,
    /** One strongly consistent Query that finds an item. */
    get: (prefix: string) => () =>
      query({ ConsistentRead: true, ExpressionAttributeValues: { ":pk": partition(prefix, 0) } }),
    /** One Query that reads 100 full items, which this writes first. */
    list: async (prefix: string) => {
      const pk = `LIST#${prefix}`;
      for (const some of chunksOf(indexes, WRITES_AT_ONCE)) {
        const puts = some.map((index) => {
          const { listing_pk: _, listing_sk: sk, ...record } = recordOf(prefix, index, 1);
          return { PutRequest: { Item: { pk, sk, ...record } } };
        });
        await dynamodb.send(new BatchWriteCommand({ RequestItems: { [table]: puts } }));
      }
      return () => query({ ScanIndexForward: false, Limit: ITEMS, ExpressionAttributeValues: { ":pk": pk } });
    },
  };
};
