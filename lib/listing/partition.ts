import type { Organization } from "../organizations/organization.ts";
import { type PartitionKind, partitionKeyOf, resources } from "../resources.ts";

const { partitionKey, sortKey } = resources.workItems.indexes.listing;

/** Kinds of records that are listed. */
export type ListingKind = Extract<PartitionKind, `LIST_${string}`>;
type Sharded = Pick<Organization, "id" | "listingShards">;

const partition = (kind: ListingKind, organization: Sharded, shard: number): string =>
  partitionKeyOf(kind, organization.id, shard);

/** All partitions that may hold an organization's entries. */
export const listingPartitions = (kind: ListingKind, organization: Sharded): string[] =>
  Array.from({ length: organization.listingShards }, (_, shard) => partition(kind, organization, shard));

/**
 * The attributes that add a record to the listing index.
 * @param id a UUID; its first digits, random or hashed, select the shard
 * @param place place in the list; greater ones come first
 */
export const listingEntry = (kind: ListingKind, organization: Sharded, id: string, place: string) => ({
  [partitionKey]: partition(kind, organization, Number.parseInt(id.slice(0, 8), 16) % organization.listingShards),
  [sortKey]: place,
});

/** The attributes that remove a record from the listing index. */
export const NO_LISTING_ENTRY = { [partitionKey]: undefined, [sortKey]: undefined };
