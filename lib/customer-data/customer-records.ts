import { BatchWriteCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { backOff } from "../backoff.ts";
import { chunksOf, mapConcurrently } from "../concurrency.ts";
import type { Attributes, RecordKey } from "../dynamodb/versioned-record.ts";
import { StoreBusyError } from "../errors.ts";
import type { PartitionKind } from "../resources.ts";
import type { RuntimeWith } from "../runtime/runtime.ts";

/** What reading and removing an organization's records requires of a runtime. */
export type RecordsRuntime = Pick<RuntimeWith<"workItems">, "dynamodb" | "environment">;

/** Segments of the table that are read at the same time. */
const SEGMENTS = 8;
/** DynamoDB's limit for one BatchWriteItem. */
const DELETES_PER_REQUEST = 25;
const CONCURRENT_DELETES = 8;
const ATTEMPTS_MAX = 10;

/** How far a scan has come. Deleted items are in no index, so that only a scan of the whole table finds everything. */
export interface ScanProgress {
  /** Records of all organizations that were read. */
  readonly scanned: number;
  /** Read request units that the scan has consumed. */
  readonly readUnits: number;
}

/** The organization whose record it is; undefined for records that are nobody's. */
const ownerOf = ({ pk, sk }: RecordKey): string | undefined => {
  const [kind, owner] = pk.split("#") as [PartitionKind, string | undefined];
  // The partitions of open jobs are shared: their sort keys are `<due>#<organization>#<job>`.
  return kind === "OPEN_UPLOADS" ? sk.split("#")[1] : owner;
};

/** Kind of a record's partition. */
export const kindOf = ({ pk }: RecordKey): PartitionKind => pk.slice(0, pk.indexOf("#")) as PartitionKind;

/**
 * Reads all records of an organization in the WorkItems table, strongly consistent, by scanning the whole table. The
 * records of a partition come together, in the order of their sort keys.
 * @param handle called with the records of each page that has any; each segment waits for it
 */
export const scanOrganization = async (
  { dynamodb, environment }: RecordsRuntime,
  organization: string,
  handle: (records: readonly (Attributes & RecordKey)[], segment: number) => Promise<void>,
  onProgress: (progress: ScanProgress) => void = () => undefined,
): Promise<ScanProgress> => {
  let scanned = 0;
  let readUnits = 0;
  const scanSegment = async (segment: number): Promise<void> => {
    let start: Record<string, unknown> | undefined;
    do {
      const page = await dynamodb.send(
        new ScanCommand({
          TableName: environment.WORK_ITEMS_TABLE,
          Segment: segment,
          TotalSegments: SEGMENTS,
          // Lets through some records of others, whose keys happen to hold the same text.
          FilterExpression: "contains(pk, :owner) OR contains(sk, :owner)",
          ExpressionAttributeValues: { ":owner": `#${organization}` },
          ConsistentRead: true,
          ReturnConsumedCapacity: "TOTAL",
          ExclusiveStartKey: start,
        }),
      );
      scanned += page.ScannedCount ?? 0;
      readUnits += page.ConsumedCapacity?.CapacityUnits ?? 0;
      onProgress({ scanned, readUnits });
      const items = (page.Items ?? []) as (Attributes & RecordKey)[];
      const own = items.filter((item) => ownerOf(item) === organization);
      if (own.length > 0) await handle(own, segment);
      start = page.LastEvaluatedKey;
    } while (start !== undefined);
  };
  await Promise.all(Array.from({ length: SEGMENTS }, (_, segment) => scanSegment(segment)));
  return { scanned, readUnits };
};

/** Deletes records, whatever they hold by now. @throws StoreBusyError if DynamoDB keeps throttling */
export const deleteRecords = async (
  { dynamodb }: Pick<RecordsRuntime, "dynamodb">,
  table: string,
  keys: readonly RecordKey[],
): Promise<void> => {
  await mapConcurrently(chunksOf(keys, DELETES_PER_REQUEST), CONCURRENT_DELETES, async (chunk) => {
    let requests: { readonly DeleteRequest: { readonly Key: Record<string, unknown> } }[] = chunk.map(({ pk, sk }) => ({
      DeleteRequest: { Key: { pk, sk } },
    }));
    for (let attempt = 1; requests.length > 0; attempt++) {
      if (attempt > ATTEMPTS_MAX) throw new StoreBusyError("the store throttles deletions; repeat the command");
      const { UnprocessedItems = {} } = await dynamodb.send(
        new BatchWriteCommand({ RequestItems: { [table]: requests } }),
      );
      requests = (UnprocessedItems[table] ?? []).flatMap(({ DeleteRequest: request }) =>
        request?.Key === undefined ? [] : [{ DeleteRequest: { Key: request.Key } }],
      );
      if (requests.length > 0) await backOff(attempt);
    }
  });
};
