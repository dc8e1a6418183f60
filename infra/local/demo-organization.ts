import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createAccessStore } from "../../lib/organizations/access-store.ts";
import { type Administration, createKey, isLive, putOrganization } from "../../lib/organizations/administration.ts";
import { hashApiKey } from "../../lib/organizations/api-key.ts";
import type { RegionCode } from "../../lib/regions.ts";

const ORGANIZATION = "demo";
/** Requests a second and at once: more than one machine serves, so that the limit is in nobody's way. */
const LIMIT = 10_000;

/**
 * Makes the organization that everybody starts with.
 * @param kept its key from last time
 * @returns that key, or a new one where it is no longer live
 */
export const prepareDemoOrganization = async (
  dynamodb: DynamoDBDocumentClient,
  region: RegionCode,
  accessTable: string,
  kept: string | undefined,
): Promise<string> => {
  const administration: Administration = {
    dynamodb,
    environment: { ACCESS_TABLE: accessTable },
    region,
    clock: Date.now,
  };
  await putOrganization(administration, ORGANIZATION, { rate: LIMIT, burst: LIMIT });
  if (kept !== undefined) {
    const record = await createAccessStore(administration).findKey(hashApiKey(kept));
    if (record !== undefined && isLive(record, Date.now())) return kept;
  }
  return (await createKey(administration, ORGANIZATION, { name: "local" })).key;
};
