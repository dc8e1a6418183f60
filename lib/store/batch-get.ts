import { BatchGetItemCommand } from "@aws-sdk/client-dynamodb";
import { type DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { chunksOf, mapConcurrently, retry } from "../retry.ts";
import {
  type AttributeValues,
  fromAttributeValues,
  toAttributeValues,
  type Attributes,
} from "../aws/attribute-values.ts";
import type { RecordKey } from "./versioned-record.ts";

/** DynamoDB's limit for one BatchGetItem. */
const KEYS_PER_READ = 100;
const CONCURRENT_READS = 4;
const READING = { attempts: 8, message: "the store throttles reads; try again" };

/** A key as text, for use in maps and sets. */
export function keyText({ pk, sk }: RecordKey): string {
  return `${pk}\n${sk}`;
}

/** Reads one item, strongly consistent. */
export async function getItem(
  dynamodb: DynamoDBDocumentClient,
  table: string,
  key: RecordKey,
): Promise<Attributes | undefined> {
  return (await dynamodb.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item;
}

/** The parts of a request that read only some attributes. */
function projectionOf(attributes: readonly string[]) {
  const aliases = attributes.map((name, index) => [`#a${index}`, name] as const);
  return {
    ProjectionExpression: aliases.map(([alias]) => alias).join(", "),
    ExpressionAttributeNames: Object.fromEntries(aliases),
  };
}

/**
 * Reads the items with the given keys, strongly consistent, in any order. Keys without an item are left out; a key may be
 * given twice.
 * @param attributes names. @default all
 * @throws StoreBusyError if DynamoDB returns no further items for a few seconds
 */
export async function batchGet(
  dynamodb: DynamoDBDocumentClient,
  table: string,
  keys: readonly RecordKey[],
  attributes?: readonly string[],
): Promise<Attributes[]> {
  const options = { ConsistentRead: true, ...(attributes && projectionOf(attributes)) };
  const readChunk = async (chunk: readonly RecordKey[]): Promise<Attributes[]> => {
    const items: Attributes[] = [];
    let pending: AttributeValues[] = chunk.map(({ pk, sk }) => toAttributeValues({ pk, sk }));
    return retry(READING, async () => {
      while (pending.length > 0) {
        const { Responses, UnprocessedKeys } = await dynamodb.send(
          new BatchGetItemCommand({ RequestItems: { [table]: { Keys: pending, ...options } } }),
        );
        const found = Responses?.[table] ?? [];
        items.push(...found.map(fromAttributeValues));
        pending = UnprocessedKeys?.[table]?.Keys ?? [];
        // A response holds at most 16 MB, so only an empty one means throttling.
        if (pending.length > 0 && found.length === 0) return undefined;
      }
      return items;
    });
  };
  const unique = [...new Map(keys.map((key) => [keyText(key), key])).values()];
  return (await mapConcurrently(chunksOf(unique, KEYS_PER_READ), CONCURRENT_READS, readChunk)).flat();
}
