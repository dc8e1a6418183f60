import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { backOff } from "../backoff.ts";
import { keyText } from "../dynamodb/batch-get.ts";
import { type ConditionalWrite, createRecordStore } from "../dynamodb/record-store.ts";
import type { RecordKey } from "../dynamodb/versioned-record.ts";
import { StoreBusyError } from "../errors.ts";
import { agentEntry, listingSource } from "../listing/partition.ts";
import type { Organization } from "../organizations/organization.ts";
import { resources } from "../resources.ts";
import type { RuntimeWith } from "../runtime/runtime.ts";
import { itemIdOf, workItemFrom } from "./work-item-record.ts";

const { sortKey: AGENTS_SORT_KEY, partitionKey: AGENTS_PARTITION_KEY } = resources.workItems.indexes.agents;
const ITEMS_PER_PAGE = 100;
const ATTEMPTS_MAX = 10;

/** How far the work on an organization has come. */
export interface AgentsIndexed {
  /** Items that were looked at, and those that were added to the index or moved in it, since the start. */
  readonly items: number;
  readonly indexed: number;
  /** Where to go on after an interruption. */
  readonly position: string;
}

/**
 * Adds an organization's items to the agents index, where they were written before it existed. It changes neither the
 * items' versions nor their other attributes, so that it can run beside all other writers; writers since the index put
 * their items into it themselves.
 * @param from a position of an interrupted run
 * @yields after each page of a hundred items
 * @throws StoreBusyError if a page cannot be written
 */
export async function* indexAgents(
  runtime: RuntimeWith<"workItems">,
  organization: Organization,
  from = "",
): AsyncGenerator<AgentsIndexed> {
  const { dynamodb, environment } = runtime;
  const records = createRecordStore(runtime);
  const { index, partitionKey, partitions } = listingSource("LIST_ITEM", organization);
  let [items, indexed] = [0, 0];

  /** The writes that items need at the moment. */
  const missing = async (keys: readonly RecordKey[]): Promise<ConditionalWrite[]> => {
    const found = await records.read(keys);
    return keys.flatMap((key): ConditionalWrite[] => {
      const record = found.get(keyText(key));
      const item = workItemFrom(record);
      if (record === undefined || item === null || item.deleted_at !== null) return [];
      const { [AGENTS_PARTITION_KEY]: wanted } = agentEntry(organization, itemIdOf(key), item.agent_external_id);
      if (record[AGENTS_PARTITION_KEY] === wanted) return [];
      if (wanted === undefined) return [{ key, before: record, set: {}, remove: [AGENTS_PARTITION_KEY] }];
      return [{ key, before: record, set: { [AGENTS_PARTITION_KEY]: wanted }, remove: [] }];
    });
  };

  const indexPage = async (keys: readonly RecordKey[]): Promise<void> => {
    for (let attempt = 0, writes = await missing(keys); writes.length > 0; attempt++) {
      if (attempt > ATTEMPTS_MAX) throw new StoreBusyError("the store is busy; run it again to go on");
      if (attempt > 0) await backOff(attempt);
      const outcomes = await records.write(writes);
      indexed += outcomes.filter(({ kind }) => kind === "written").length;
      writes = await missing(
        writes.filter((_, position) => outcomes[position]?.kind !== "written").map(({ key }) => key),
      );
    }
  };

  for (const [shard, partition] of partitions.entries()) {
    const [startedShard, startedPlace] = from === "" ? [0, ""] : [Number(from.split(" ")[0]), from.split(" ")[1] ?? ""];
    if (shard < startedShard) continue;
    let after = shard === startedShard ? startedPlace : "";
    for (let isLast = false; !isLast;) {
      const { Items = [], LastEvaluatedKey } = await dynamodb.send(
        new QueryCommand({
          TableName: environment.WORK_ITEMS_TABLE,
          IndexName: index,
          KeyConditionExpression: `${partitionKey} = :partition AND ${AGENTS_SORT_KEY} > :after`,
          ExpressionAttributeValues: { ":partition": partition, ":after": after || "0" },
          Limit: ITEMS_PER_PAGE,
        }),
      );
      const keys = Items.map(({ pk, sk }): RecordKey => ({ pk: String(pk), sk: String(sk) }));
      await indexPage(keys);
      items += keys.length;
      after = String(Items.at(-1)?.[AGENTS_SORT_KEY] ?? after);
      isLast = LastEvaluatedKey === undefined;
      yield { items, indexed, position: `${shard} ${after}` };
    }
  }
}
