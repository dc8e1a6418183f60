import { workItemId } from "../../lib/identity.ts";
import { agentEntry, listingEntry } from "../../lib/store/lists/partition.ts";
import { resources } from "../../lib/resources.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { itemOf } from "./uploads-data.ts";

const { fact, within } = rowsOf("scale");
const { listing, agents } = resources.workItems.indexes;
const ITEMS = 1_000_000;
const SHARDS = [1, 2, 8, 64] as const;
/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html */
const PARTITION_WRITE_UNITS = 1000;
/** Of 10,000 items, a shard of 64 gets 156 ± 37 at three standard deviations. */
const UNEVENNESS_MAX = 1.4;
/** One second of a stream whose `completed_at` only grows: it meets each partition at its end. */
const WINDOW = 10_000;

/** Places of items in the list, in the order in which they are completed. */
const places = Array.from({ length: ITEMS }, (_, index) => {
  const { external_id, completed_at } = itemOf("item", index);
  const id = workItemId("acme", external_id);
  return { id, place: `${completed_at}#${id}` };
});

/** The largest part of a second's items that one partition gets. */
const largestShare = (partitionOf: (index: number) => unknown): number => {
  let largest = 0;
  for (let start = 0; start < ITEMS; start += WINDOW) {
    const counts = new Map<unknown, number>();
    for (let index = start; index < start + WINDOW; index++) {
      const partition = partitionOf(index);
      counts.set(partition, (counts.get(partition) ?? 0) + 1);
    }
    largest = Math.max(largest, ...counts.values());
  }
  return largest / WINDOW;
};

/** The load of index partitions while items are completed one after the other, by the number of listing shards. */
export const measure = (): BenchRow[] =>
  SHARDS.flatMap((listingWriteShards) => {
    const organization = { id: "acme", listingWriteShards };
    const share = largestShare((index) => {
      const { id, place } = places[index]!;
      return listingEntry("LIST_ITEM", organization, id, place)[listing.partitionKey];
    });
    const ofOneAgent = largestShare(
      (index) => agentEntry(organization, places[index]!.id, "agent-1")[agents.partitionKey],
    );
    const of = `${listingWriteShards} ${listingWriteShards === 1 ? "shard" : "shards"}`;
    return [
      within(`fullest of ${of}, beside an even share`, share * listingWriteShards, "×", UNEVENNESS_MAX),
      fact(`items a second until a partition of the list is full, ${of}`, PARTITION_WRITE_UNITS / share, "items/s"),
      fact(
        `items a second of one agent until its partition is full, ${of}`,
        PARTITION_WRITE_UNITS / ofOneAgent,
        "items/s",
      ),
    ];
  });
