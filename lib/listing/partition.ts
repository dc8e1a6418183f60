import type { Organization } from "../organizations/organization.ts";
import { type PartitionKind, partitionKeyOf, resources } from "../resources.ts";

const { partitionKey, sortKey } = resources.workItems.indexes.listing;

/** Kinds of records that are listed. */
export type ListingKind = Extract<PartitionKind, `LIST_${string}`>;
type Sharded = Pick<Organization, "id" | "listingShards">;

const partition = (kind: ListingKind, organization: Sharded, shard: number): string =>
  partitionKeyOf(kind, organization.id, shard);

/** Every partition in which an organization's entries may be, for readers. */
export const listingPartitions = (kind: ListingKind, organization: Sharded): string[] =>
  Array.from({ length: organization.listingShards }, (_, shard) => partition(kind, organization, shard));

/**
 * The attributes that put a record into the index, for writers.
 * @param id a UUID, of which the first digits, random or hashed, choose the shard
 * @param place in the list; greater ones come first
 */
export const listingEntry = (kind: ListingKind, organization: Sharded, id: string, place: string) => ({
  [partitionKey]: partition(kind, organization, Number.parseInt(id.slice(0, 8), 16) % organization.listingShards),
  [sortKey]: place,
});

/** The attributes that take a record out of the index. */
export const NO_LISTING_ENTRY = { [partitionKey]: undefined, [sortKey]: undefined };
