import { StateConflictError } from "../errors.ts";
import type { AccessRuntime } from "../organizations/access-store.ts";
import { changeOrganization, getOrganization } from "./administration.ts";
import { KEY_CACHE_SECONDS } from "../organizations/authenticate.ts";
import { LISTING_SHARDS_MAX, type OrganizationRecord } from "../organizations/organization.ts";

/** After this time no function reads by the number of shards that it remembers. */
const SHARDS_KNOWN_WITHIN_MILLISECONDS = 2 * KEY_CACHE_SECONDS * 1000;

/**
 * Raises the number of shards of an organization's lists: first those that are read, and after a minute, when every
 * function reads them, those that are written. If it is interrupted, it can be repeated.
 * @param wait waits for that minute
 * @throws StateConflictError if the number is lower than now, or above the most
 */
export async function growListingShards(
  runtime: AccessRuntime,
  id: string,
  shards: number,
  wait: (milliseconds: number) => Promise<unknown>,
): Promise<OrganizationRecord> {
  const { listing_shards: read, listing_write_shards: write = read } = await getOrganization(runtime, id);
  if (shards < read || shards > LISTING_SHARDS_MAX) {
    throw new StateConflictError(`listing shards: must be from ${read}, the current number, to ${LISTING_SHARDS_MAX}`);
  }
  const grown = await changeOrganization(runtime, id, { listing_shards: shards, listing_write_shards: write });
  if (write === shards) return grown;
  await wait(SHARDS_KNOWN_WITHIN_MILLISECONDS);
  return changeOrganization(runtime, id, { listing_write_shards: shards });
}
