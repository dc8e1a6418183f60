import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createAccessStore } from "../../lib/organizations/access-store.ts";
import { type Administration, putOrganization } from "../../lib/operator/administration.ts";
import { createKey, isLive } from "../../lib/operator/keys.ts";
import { hashApiKey } from "../../lib/organizations/api-key.ts";
import type { RegionCode } from "../../lib/regions.ts";

const ORGANIZATION = "demo";
/** Requests a second and at once: more than one machine can serve. `organizations -- set demo` sets one that can be met. */
const LIMIT = 10_000;

/**
 * Creates the organization `demo` with its limits if it does not exist. Limits that were set since are kept.
 * @param previousKey its API key from the last start
 * @returns that key, or a new one if it is no longer live
 */
export async function prepareDemoOrganization(
  dynamodb: DynamoDBDocumentClient,
  region: RegionCode,
  accessTable: string,
  previousKey: string | undefined,
): Promise<string> {
  const administration: Administration = {
    dynamodb,
    environment: { ACCESS_TABLE: accessTable },
    region,
    clock: Date.now,
  };
  if ((await createAccessStore(administration).findOrganization(ORGANIZATION)) === undefined) {
    await putOrganization(administration, ORGANIZATION, { rate: LIMIT, burst: LIMIT });
  }
  if (previousKey !== undefined) {
    const record = await createAccessStore(administration).findKey(hashApiKey(previousKey));
    if (record !== undefined && isLive(record, Date.now())) return previousKey;
  }
  return (await createKey(administration, ORGANIZATION, { name: "local" })).key;
}
