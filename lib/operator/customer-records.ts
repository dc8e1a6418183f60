import { BatchWriteCommand, type BatchWriteCommandInput, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { chunksOf, mapConcurrently, retry } from "../retry.ts";
import type { Attributes } from "../aws/attribute-values.ts";
import type { RecordKey } from "../store/versioned-record.ts";
import { isThrottled } from "../aws/error-codes.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { ownerOf } from "./kinds-of-data.ts";

/** What reading and removing an organization's records requires of a runtime. */
export type RecordsRuntime = Pick<RuntimeWith<"workItems">, "dynamodb" | "environment">;

/** Segments of the table that are read at the same time. */
const SEGMENTS = 8;
/** DynamoDB's limit for one BatchWriteItem. */
const DELETES_PER_REQUEST = 25;
const CONCURRENT_DELETES = 8;
const READING = { attempts: 10, message: "the store throttles reads; run the command again" };
const DELETING = { attempts: 10, message: "the store throttles deletions; run the command again" };

/** How far a scan has come. Deleted items are in no index, so that only a scan of the whole table finds everything. */
export interface ScanProgress {
  /** Records of all organizations that were read. */
  readonly scanned: number;
  /** Read request units that the scan has consumed. */
  readonly readUnits: number;
}

/** Where a segment continues. */
export interface ScanPlace {
  /** The last record that was read. @default the segment begins */
  readonly after?: RecordKey | undefined;
  readonly ended: boolean;
}
/** One page of a segment: the organization's records in it, if there are any. */
export interface ScanPage {
  readonly records: readonly (Attributes & RecordKey)[];
  readonly segment: number;
  /** Where the segment continues after this page. */
  readonly place: ScanPlace;
}
/** The places of a scan that begins. */
export function scanStart(): ScanPlace[] {
  return Array.from({ length: SEGMENTS }, () => ({ ended: false }));
}

/**
 * Reads all records of an organization in the WorkItems table, strongly consistent, by scanning the whole table. The
 * records of a partition come together, in the order of their sort keys.
 * @param handle called with each page; its segment waits for it
 * @param places where an earlier scan has stopped
 * @throws StoreBusyError if DynamoDB keeps throttling
 */
export async function scanOrganization(
  { dynamodb, environment }: RecordsRuntime,
  organization: string,
  handle: (page: ScanPage) => Promise<void>,
  onProgress: (progress: ScanProgress) => void = () => undefined,
  places: readonly ScanPlace[] = scanStart(),
): Promise<ScanProgress> {
  let scanned = 0;
  let readUnits = 0;
  const read = (segment: number, start: RecordKey | undefined) => {
    const command = new ScanCommand({
      TableName: environment.WORK_ITEMS_TABLE,
      Segment: segment,
      TotalSegments: places.length,
      // Lets through some records of others, whose keys happen to hold the same text.
      FilterExpression: "contains(pk, :owner) OR contains(sk, :owner)",
      ExpressionAttributeValues: { ":owner": `#${organization}` },
      ConsistentRead: true,
      ReturnConsumedCapacity: "TOTAL",
      ExclusiveStartKey: start && { ...start },
    });
    return retry(READING, () =>
      dynamodb.send(command).catch((error: unknown) => {
        if (!isThrottled(error)) throw error;
        return undefined;
      }),
    );
  };
  const scanSegment = async (segment: number): Promise<void> => {
    let { after, ended } = places[segment] ?? { after: undefined, ended: true };
    while (!ended) {
      const page = await read(segment, after);
      scanned += page.ScannedCount ?? 0;
      readUnits += page.ConsumedCapacity?.CapacityUnits ?? 0;
      onProgress({ scanned, readUnits });
      const items = (page.Items ?? []) as (Attributes & RecordKey)[];
      const records = items.filter((item) => ownerOf(item) === organization);
      after = page.LastEvaluatedKey as RecordKey | undefined;
      ended = after === undefined;
      await handle({ records, segment, place: { after, ended } });
    }
  };
  await Promise.all(places.map((_, segment) => scanSegment(segment)));
  return { scanned, readUnits };
}

type DeleteRequests = NonNullable<BatchWriteCommandInput["RequestItems"]>[string];

/** Deletes records, whatever they hold by now. @throws StoreBusyError if DynamoDB keeps throttling */
export async function deleteRecords(
  { dynamodb }: Pick<RecordsRuntime, "dynamodb">,
  table: string,
  keys: readonly RecordKey[],
): Promise<void> {
  await mapConcurrently(chunksOf(keys, DELETES_PER_REQUEST), CONCURRENT_DELETES, async (chunk) => {
    let requests: DeleteRequests = chunk.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } }));
    await retry(DELETING, async () => {
      const { UnprocessedItems = {} } = await dynamodb.send(
        new BatchWriteCommand({ RequestItems: { [table]: requests } }),
      );
      requests = UnprocessedItems[table] ?? [];
      return requests.length === 0 || undefined;
    });
  });
}
