import { hash } from "node:crypto";
import { type PartitionKind, partitionKeyOf, resources } from "../../resources.ts";

/** The indexes that lists are read from. */
export const listingIndexes = {
  listing: resources.workItems.indexes.listing,
  agents: resources.workItems.indexes.agents,
};
const { listing, agents } = listingIndexes;

/** Kinds of records that are listed. */
export type ListingKind = Extract<PartitionKind, `LIST_${string}`>;

/** An organization, and the number of shards that its entries may be in. */
interface Readable {
  readonly id: string;
  readonly listingShards: number;
}
/** An organization, and the number of shards that new entries are put in. */
interface Writable {
  readonly id: string;
  readonly listingWriteShards: number;
}

/** The index, and its partitions, that hold the entries of one list. */
export interface ListingSource {
  readonly index: keyof typeof listingIndexes;
  readonly partitionKey: string;
  readonly partitions: readonly string[];
}

function shardsOf({ listingShards }: Readable): number[] {
  return Array.from({ length: listingShards }, (_, shard) => shard);
}

/** The shard of a record. @param id a UUID; its first digits, which are random or hashed, select the shard */
function shardOf({ listingWriteShards }: Writable, id: string): number {
  return Number.parseInt(id.slice(0, 8), 16) % listingWriteShards;
}

/** Where all of an organization's entries of one kind are. */
export function listingSource(kind: ListingKind, organization: Readable): ListingSource {
  return {
    index: "listing",
    partitionKey: listing.partitionKey,
    partitions: shardsOf(organization).map((shard) => partitionKeyOf(kind, organization.id, shard)),
  };
}

/** An agent's external_id may be longer than a key, so its hash is used. */
function agentPartition(organization: string, agentExternalId: string, shard: number): string {
  return partitionKeyOf("LIST_ITEM_OF_AGENT", organization, hash("sha256", agentExternalId, "base64url"), shard);
}

/** Where the entries of one agent's work items are. */
export function agentSource(organization: Readable, agentExternalId: string): ListingSource {
  return {
    index: "agents",
    partitionKey: agents.partitionKey,
    partitions: shardsOf(organization).map((shard) => agentPartition(organization.id, agentExternalId, shard)),
  };
}

/**
 * The attributes that add a record to the listing index.
 * @param id a UUID
 * @param sortKey ends with `#` and the id; higher ones come first
 */
export function listingEntry(kind: ListingKind, organization: Writable, id: string, sortKey: string) {
  return {
    [listing.partitionKey]: partitionKeyOf(kind, organization.id, shardOf(organization, id)),
    [listing.sortKey]: sortKey,
  };
}

/** A record's listing entry moved to another list, with the same owner and sort key; undefined if it has none. */
export function entryInOtherList(kind: ListingKind, record: Readonly<Record<string, unknown>>) {
  const { [listing.partitionKey]: partition, [listing.sortKey]: sortKey } = record;
  if (typeof partition !== "string" || typeof sortKey !== "string") return undefined;
  const [, ...owner] = partition.split("#");
  return { [listing.partitionKey]: partitionKeyOf(kind, ...owner), [listing.sortKey]: sortKey };
}

/** The id at the end of a partition key or sort key. */
export function idFromKey(key: string): string {
  return key.slice(key.lastIndexOf("#") + 1);
}

/** The attribute that adds a listed work item to the agents index too, or removes it from there. */
export function agentEntry(organization: Writable, id: string, agentExternalId: string | null) {
  return {
    [agents.partitionKey]:
      agentExternalId === null
        ? undefined
        : agentPartition(organization.id, agentExternalId, shardOf(organization, id)),
  };
}
