import { QueryCommand, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import type { RuntimeWith } from "@work-items/lib/aws/runtime.ts";
import { isoTime } from "@work-items/lib/clock.ts";
import type { Organization } from "@work-items/lib/organizations/organization.ts";
import { type PartitionKind, resources } from "@work-items/lib/resources.ts";
import { chunksOf } from "@work-items/lib/retry.ts";
import { listingSource } from "@work-items/lib/store/lists/partition.ts";
import type { RecordKey } from "@work-items/lib/store/versioned-record.ts";
import { planPartitions } from "@work-items/lib/work-items/planned-records.ts";
import type { OwnedRecord, RecordsPage } from "./customer-records.ts";
import { erasedAs, kindOf, type Lists, LISTS } from "./kinds-of-data.ts";
import { createMeteredReads, type ReadProgress } from "./metered-reads.ts";

/** How long we assume that an index takes at most to show a write; AWS states no limit. Usually a fraction of a second. */
export const INDEX_SHOWS_WITHIN_MS = 15 * 60_000;
/** Partitions that are read at the same time. Each takes up to 1 MB of memory. */
const PARTITIONS_AT_ONCE = 25;

const { partitionKey, sortKey } = resources.workItems.indexes.listing;
const ENTRY_KEYS = ["pk", "sk", partitionKey, sortKey];

/** Where a traversal continues. */
export interface TraversalPosition {
  /** A partition of the index. */
  readonly partition: string;
  /** Key of its last entry whose records were visited. */
  readonly after: Readonly<Record<string, unknown>>;
}
/** Some of an organization's records. */
export interface TraversalPage extends RecordsPage {
  /** Present if all records before this position have been visited. */
  readonly position?: TraversalPosition;
}
export interface TraversalOptions {
  readonly onProgress?: ((progress: ReadProgress) => void) | undefined;
  /** @default all */
  readonly lists?: readonly Lists[];
  /**
   * Whether the listed record comes last in its partition. An erasure that is interrupted then leaves the record that leads to the
   * rest.
   * @default false
   */
  readonly listedLast?: boolean;
  /** Kinds of partitions for which only keys and `created_at` are read. @default none */
  readonly keysOnly?: ReadonlySet<PartitionKind>;
  /** Where an interrupted traversal stopped. @default the beginning */
  readonly from?: TraversalPosition | undefined;
  /** Partitions that the interrupted traversal visited. */
  readonly visited?: Iterable<string>;
}

/** The partitions with the plans of the dry runs among some records. A damaged job counts as a dry run. */
function plansOf(organization: string, records: readonly OwnedRecord[]): string[] {
  return records
    .filter((record) => erasedAs(record) === "upload_jobs" && (record["dry_run"] ?? false) !== false)
    .flatMap(({ pk }) => planPartitions(organization, pk.split("#")[2] ?? ""));
}

/**
 * Visits everything in the WorkItems table that the listing index shows of an organization. For each listed record it reads the
 * whole partition, strongly consistent. The plans of a dry run come before its job. Records of a partition come together, in the
 * order of their sort keys or in reverse. The cost depends only on what the organization holds.
 *
 * Lists are read upwards, and deleted items last, so that most items that move in the meantime are met again. Then the
 * index is read again until it shows no unvisited partition that existed at the beginning. So each item that exists throughout is
 * visited once, wherever it moves, while its shard stays the same.
 * @param visit called with one page after the other; the traversal waits for it
 * @throws StoreBusyError if DynamoDB keeps throttling
 */
export async function traverseOrganization(
  { dynamodb, environment, clock }: Pick<RuntimeWith<"workItems">, "dynamodb" | "environment" | "clock">,
  organization: Pick<Organization, "id" | "listingShards">,
  visit: (page: TraversalPage) => Promise<void>,
  options: TraversalOptions = {},
): Promise<ReadProgress> {
  const { onProgress, lists = LISTS, listedLast = false, keysOnly } = options;
  const { read, progress } = createMeteredReads(onProgress);
  const began = isoTime(clock());
  const visited = new Set(options.visited);
  let { from } = options;

  const query = (input: Partial<QueryCommandInput>) =>
    read(() =>
      dynamodb.send(
        new QueryCommand({ TableName: environment.WORK_ITEMS_TABLE, ReturnConsumedCapacity: "TOTAL", ...input }),
      ),
    );
  /** The pages of a query, from a key on. */
  async function* pagesOf(input: Partial<QueryCommandInput>, after?: QueryCommandInput["ExclusiveStartKey"]) {
    for (let start = after, isFirst = true; isFirst || start !== undefined; isFirst = false) {
      const { Items = [], LastEvaluatedKey } = await query({ ...input, ExclusiveStartKey: start });
      yield Items as OwnedRecord[];
      start = LastEvaluatedKey;
    }
  }
  const recordsOf = (pk: string) => ({
    KeyConditionExpression: "pk = :pk",
    ExpressionAttributeValues: { ":pk": pk },
    ConsistentRead: true,
    ScanIndexForward: !listedLast,
    ...(keysOnly?.has(kindOf({ pk })) && { ProjectionExpression: "pk, sk, created_at" }),
  });
  const entriesOf = (partition: string) => ({
    IndexName: "listing",
    KeyConditionExpression: `${partitionKey} = :partition`,
    ExpressionAttributeValues: { ":partition": partition },
    ProjectionExpression: ENTRY_KEYS.join(", "),
  });

  const visitAll = async (pages: AsyncIterable<readonly OwnedRecord[]>): Promise<void> => {
    for await (const records of pages) await visit({ records });
  };
  /** Visits the partitions of some entries. @returns whether one of them existed when the traversal began */
  const visitEntries = async (partition: string, entries: readonly RecordKey[]): Promise<boolean> => {
    const firsts = await Promise.all(entries.map(({ pk }) => query(recordsOf(pk))));
    let pending: OwnedRecord[] = [];
    let existed = false;
    for (const [index, { Items = [], LastEvaluatedKey }] of firsts.entries()) {
      const records = Items as OwnedRecord[];
      existed ||= records.some(({ created_at: created }) => String(created) < began);
      for (const plans of plansOf(organization.id, records)) await visitAll(pagesOf(recordsOf(plans)));
      pending.push(...records);
      if (LastEvaluatedKey === undefined) continue;
      await visit({ records: pending });
      pending = [];
      await visitAll(pagesOf(recordsOf(entries[index]!.pk), LastEvaluatedKey));
    }
    for (const { pk } of entries) visited.add(pk);
    await visit({ records: pending, position: { partition, after: { ...entries.at(-1) } } });
    return existed;
  };
  const visitList = async (partition: string, after: TraversalPosition["after"] | undefined): Promise<boolean> => {
    let existed = false;
    for await (const entries of pagesOf(entriesOf(partition), after)) {
      const unvisited = entries.filter(({ pk }) => !visited.has(pk));
      for (const chunk of chunksOf(unvisited, PARTITIONS_AT_ONCE)) {
        existed = (await visitEntries(partition, chunk)) || existed;
      }
    }
    return existed;
  };
  /** Visits what is listed in some partitions. Records may move from one of them to another. */
  const visitShard = async (partitions: readonly string[]): Promise<void> => {
    for (let round = 1, isComplete = false; !isComplete; round++) {
      let existed = false;
      for (const partition of partitions) {
        if (from !== undefined && from.partition !== partition) continue;
        const after = from?.after;
        from = undefined;
        existed = (await visitList(partition, after)) || existed;
      }
      isComplete = partitions.length === 1 || (round > 1 && !existed);
    }
    visited.clear();
  };

  for (const kinds of lists) {
    const sources = kinds.map((kind) => listingSource(kind, organization).partitions);
    for (let shard = 0; shard < organization.listingShards; shard++) {
      const partitions = sources.map((source) => source[shard]!);
      if (from === undefined || partitions.includes(from.partition)) await visitShard(partitions);
    }
  }
  return progress();
}
