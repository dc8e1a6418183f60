import { QueryCommand, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import type { RuntimeWith } from "../../../lib/aws/runtime.ts";
import { isoTime } from "../../../lib/clock.ts";
import type { Organization } from "../../../lib/organizations/organization.ts";
import { type PartitionKind, resources } from "../../../lib/resources.ts";
import { chunksOf } from "../../../lib/retry.ts";
import { listingSource } from "../../../lib/store/lists/partition.ts";
import type { RecordKey } from "../../../lib/store/versioned-record.ts";
import { planPartitions } from "../../../lib/work-items/planned-records.ts";
import type { OwnedRecord, RecordsPage } from "./customer-records.ts";
import { erasedAs, kindOf, type Lists, LISTS } from "./kinds-of-data.ts";
import { createMeteredReads, type ReadProgress } from "./metered-reads.ts";

/** An index shows a write after this time at the latest; usually after a fraction of a second. */
export const INDEX_SHOWS_WITHIN_MS = 15 * 60_000;
/** Partitions that are read at the same time; of each, up to 1 MB is in memory. */
const PARTITIONS_AT_ONCE = 25;

const { partitionKey, sortKey } = resources.workItems.indexes.listing;
const ENTRY_KEYS = ["pk", "sk", partitionKey, sortKey];

/** Where a walk continues. */
export interface WalkPlace {
  /** A partition of the index. */
  readonly partition: string;
  /** Key of its last entry whose records were visited. */
  readonly after: Readonly<Record<string, unknown>>;
}
/** Some of an organization's records. */
export interface WalkPage extends RecordsPage {
  /** Present if all records were visited that come before this place. */
  readonly place?: WalkPlace;
}
/** Options of a walk. */
export interface WalkOptions {
  readonly onProgress?: ((progress: ReadProgress) => void) | undefined;
  /** @default all */
  readonly lists?: readonly Lists[];
  /**
   * Whether the record that is listed comes after all others of its partition. An erasure that deletes it last can't leave records
   * that are found by nothing.
   * @default false
   */
  readonly listedLast?: boolean;
  /** Kinds of partitions of whose records only keys and `created_at` are read. @default none */
  readonly keysOnly?: ReadonlySet<PartitionKind>;
  /** Where an interrupted walk has stopped. @default it begins */
  readonly from?: WalkPlace | undefined;
  /** Partitions that the interrupted walk has visited. */
  readonly visited?: Iterable<string>;
}

/** The partitions with the plans of jobs among some records. A damaged job may have been a dry run. */
function plansOf(organization: string, records: readonly OwnedRecord[]): string[] {
  return records
    .filter((record) => erasedAs(record) === "upload_jobs" && (record["dry_run"] ?? false) !== false)
    .flatMap(({ pk }) => planPartitions(organization, pk.split("#")[2] ?? ""));
}

/**
 * Visits everything in the WorkItems table that the listing index shows of an organization: each listed record with its
 * partition, which is read strongly consistent, and the plans of dry runs before their jobs. Records of a partition come
 * together, in the order of their sort keys or in the opposite. It costs what the organization holds.
 *
 * A list is read upwards, and deleted items after the others, so that most items that move meanwhile are met again. Then
 * the index is read again until it shows no partition that existed at the beginning and was not visited. So each item that
 * exists throughout is visited once, wherever it moves, as long as its shard stays the same.
 * @param visit called with one page after the other; the walk waits for it
 * @throws StoreBusyError if DynamoDB keeps throttling
 */
export async function walkOrganization(
  { dynamodb, environment, clock }: Pick<RuntimeWith<"workItems">, "dynamodb" | "environment" | "clock">,
  organization: Pick<Organization, "id" | "listingShards">,
  visit: (page: WalkPage) => Promise<void>,
  options: WalkOptions = {},
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
  /** Visits the partitions of some entries. @returns whether one of them existed when the walk began */
  const visitEntries = async (partition: string, entries: readonly RecordKey[]): Promise<boolean> => {
    const firsts = await Promise.all(entries.map(({ pk }) => query(recordsOf(pk))));
    let pending: OwnedRecord[] = [];
    let existed = false;
    for (const [place, { Items = [], LastEvaluatedKey }] of firsts.entries()) {
      const records = Items as OwnedRecord[];
      existed ||= records.some(({ created_at: created }) => String(created) < began);
      for (const plans of plansOf(organization.id, records)) await visitAll(pagesOf(recordsOf(plans)));
      pending.push(...records);
      if (LastEvaluatedKey === undefined) continue;
      await visit({ records: pending });
      pending = [];
      await visitAll(pagesOf(recordsOf(entries[place]!.pk), LastEvaluatedKey));
    }
    for (const { pk } of entries) visited.add(pk);
    await visit({ records: pending, place: { partition, after: { ...entries.at(-1) } } });
    return existed;
  };
  const visitList = async (partition: string, after: WalkPlace["after"] | undefined): Promise<boolean> => {
    let existed = false;
    for await (const entries of pagesOf(entriesOf(partition), after)) {
      const unseen = entries.filter(({ pk }) => !visited.has(pk));
      for (const chunk of chunksOf(unseen, PARTITIONS_AT_ONCE)) {
        existed = (await visitEntries(partition, chunk)) || existed;
      }
    }
    return existed;
  };
  /** Visits what is listed in partitions between which records move. */
  const visitShard = async (partitions: readonly string[]): Promise<void> => {
    for (let looks = 1, isComplete = false; !isComplete; looks++) {
      let existed = false;
      for (const partition of partitions) {
        if (from !== undefined && from.partition !== partition) continue;
        const after = from?.after;
        from = undefined;
        existed = (await visitList(partition, after)) || existed;
      }
      isComplete = partitions.length === 1 || (looks > 1 && !existed);
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
