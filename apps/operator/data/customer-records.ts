import {
  BatchWriteCommand,
  type BatchWriteCommandInput,
  ScanCommand,
  type ScanCommandInput,
} from "@aws-sdk/lib-dynamodb";
import { chunksOf, mapConcurrently, retry } from "@work-items/lib/retry.ts";
import type { Attributes } from "@work-items/lib/aws/attribute-values.ts";
import { isThrottled } from "@work-items/lib/aws/error-codes.ts";
import type { RecordKey } from "@work-items/lib/store/versioned-record.ts";
import type { RuntimeWith } from "@work-items/lib/aws/runtime.ts";
import { ownerOf } from "./kinds-of-data.ts";
import { createMeteredReads, type ReadProgress } from "./metered-reads.ts";

/** What reading and removing an organization's records requires of a runtime. */
export type RecordsRuntime = Pick<RuntimeWith<"workItems">, "dynamodb" | "environment">;

/** Segments of the table that are read at the same time. */
const SEGMENTS = 8;
/** DynamoDB's limit for one BatchWriteItem. */
const DELETES_PER_REQUEST = 25;
const CONCURRENT_DELETES = 8;
const DELETING = { attempts: 10, message: "the store throttles deletions; run the command again" };

/** A record of an organization. Its attributes aren't checked. */
export type OwnedRecord = Attributes & RecordKey;
/** Some of an organization's records. */
export interface RecordsPage {
  readonly records: readonly OwnedRecord[];
}

/**
 * Reads all records in the WorkItems table, strongly consistent.
 * @param visit called with each page; its segment waits for it
 * @param filter selects records. @default all
 * @throws StoreBusyError if DynamoDB keeps throttling
 */
export async function scanTable(
  { dynamodb, environment }: RecordsRuntime,
  visit: (page: RecordsPage) => Promise<void>,
  onProgress?: (progress: ReadProgress) => void,
  filter: Pick<ScanCommandInput, "FilterExpression" | "ExpressionAttributeValues"> = {},
): Promise<ReadProgress> {
  const { read, progress } = createMeteredReads(onProgress);
  const scanSegment = async (segment: number): Promise<void> => {
    for (let after: Attributes | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
      const start = after;
      const { Items = [], LastEvaluatedKey } = await read(() =>
        dynamodb.send(
          new ScanCommand({
            TableName: environment.WORK_ITEMS_TABLE,
            Segment: segment,
            TotalSegments: SEGMENTS,
            ...filter,
            ConsistentRead: true,
            ReturnConsumedCapacity: "TOTAL",
            ExclusiveStartKey: start,
          }),
        ),
      );
      await visit({ records: Items as OwnedRecord[] });
      after = LastEvaluatedKey;
    }
  };
  await Promise.all(Array.from({ length: SEGMENTS }, (_, segment) => scanSegment(segment)));
  return progress();
}

/**
 * Reads all records of an organization, also those that no index leads to, by scanning the whole table.
 * @param visit called with each page; its segment waits for it
 * @throws StoreBusyError if DynamoDB keeps throttling
 */
export function scanOrganization(
  runtime: RecordsRuntime,
  organization: string,
  visit: (page: RecordsPage) => Promise<void>,
  onProgress?: (progress: ReadProgress) => void,
): Promise<ReadProgress> {
  const visitOwn = ({ records }: RecordsPage): Promise<void> =>
    visit({ records: records.filter((record) => ownerOf(record) === organization) });
  return scanTable(runtime, visitOwn, onProgress, {
    // Other organizations' keys may contain the same text.
    FilterExpression: "contains(pk, :owner) OR contains(sk, :owner)",
    ExpressionAttributeValues: { ":owner": `#${organization}` },
  });
}

type DeleteRequests = NonNullable<BatchWriteCommandInput["RequestItems"]>[string];

/** Deletes records, even if they have changed. @throws StoreBusyError if DynamoDB keeps throttling */
export async function deleteRecords(
  { dynamodb }: Pick<RecordsRuntime, "dynamodb">,
  table: string,
  keys: readonly RecordKey[],
): Promise<void> {
  await mapConcurrently(chunksOf(keys, DELETES_PER_REQUEST), CONCURRENT_DELETES, async (chunk) => {
    let requests: DeleteRequests = chunk.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } }));
    await retry(DELETING, async () => {
      const command = new BatchWriteCommand({ RequestItems: { [table]: requests } });
      const response = await dynamodb.send(command).catch((error: unknown) => {
        // DynamoDB has deleted none of them.
        if (!isThrottled(error)) throw error;
        return undefined;
      });
      if (response === undefined) return undefined;
      requests = response.UnprocessedItems?.[table] ?? [];
      return requests.length === 0 ? true : undefined;
    });
  });
}
