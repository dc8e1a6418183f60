import { paginateScan, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { Attributes } from "@work-items/lib/aws/attribute-values.ts";
import type { Clock } from "@work-items/lib/clock.ts";
import { allItems } from "@work-items/lib/store/all-items.ts";
import { type OnDamaged, stopAtDamaged, unlessDamaged } from "@work-items/lib/store/decode-record.ts";
import { getItem } from "@work-items/lib/store/batch-get.ts";
import { changeRecord } from "@work-items/lib/store/conditional-update.ts";
import { tryOnce } from "@work-items/lib/store/conditional-write.ts";
import { retry } from "@work-items/lib/retry.ts";
import { NotFoundError, StateConflictError } from "@work-items/lib/errors.ts";
import {
  type AccessRuntime,
  decodeOrganization,
  listedOrganizationKey,
  organizationRecordKey,
} from "@work-items/lib/organizations/access-store.ts";
import { KEY_CACHE_SECONDS } from "@work-items/lib/organizations/authenticate.ts";
import type { RegionCode } from "@work-items/lib/regions.ts";
import {
  BURST_DEFAULT,
  generateCursorSecret,
  LISTING_SHARDS_DEFAULT,
  LISTING_SHARDS_MAX,
  type OrganizationRecord,
  organizationRecordSchema,
  RATE_DEFAULT,
} from "@work-items/lib/organizations/organization.ts";

/** The Access table of one region, as an operator uses it. No function has these permissions. */
export interface Administration extends AccessRuntime {
  readonly region: RegionCode;
  readonly clock: Clock;
}

export const MICROSECONDS = 1000;
const CREATING = { attempts: 5, message: "other commands keep changing the organization; run the command again" };

const absent = "attribute_not_exists(pk)";

/**
 * Creates the organization if it doesn't exist, and sets its limits. A limit that is left out keeps its value; a new organization
 * gets the default. Functions see a change within 30 s.
 * @throws ZodError if the id or a limit isn't valid, StoreBusyError if other commands keep erasing and creating it
 */
export async function putOrganization(
  administration: Administration,
  id: string,
  settings: Pick<OrganizationChanges, "rate" | "burst" | "retention_days"> = {},
): Promise<OrganizationRecord> {
  const { clock, dynamodb, environment } = administration;
  const fresh = organizationRecordSchema.parse({
    organization: id,
    changes_from: clock() * MICROSECONDS,
    rate: settings.rate ?? RATE_DEFAULT,
    burst: settings.burst ?? Math.max(BURST_DEFAULT, settings.rate ?? 0),
    listing_shards: LISTING_SHARDS_DEFAULT,
    cursor_secret: generateCursorSecret(),
    retention_days: settings.retention_days,
  });
  const TableName = environment.ACCESS_TABLE;
  const listed = { TableName, Item: listedOrganizationKey(id) };
  const record = { TableName, Item: { ...organizationRecordKey(id), ...fresh }, ConditionExpression: absent };
  return retry(CREATING, async () => {
    const create = new TransactWriteCommand({ TransactItems: [{ Put: record }, { Put: listed }] });
    if (await tryOnce(dynamodb, create)) return fresh;
    return changeOrganization(administration, id, settings).catch((error: unknown) => {
      // Another command has just erased it, or is about to create it.
      if (error instanceof NotFoundError) return undefined;
      throw error;
    });
  });
}

/** Attributes of an organization's record to set. */
export type OrganizationChanges = Partial<{
  readonly [N in keyof OrganizationRecord]: OrganizationRecord[N] | undefined;
}>;

/** Sets attributes of an organization; undefined ones keep their values. @throws NotFoundError */
export async function changeOrganization(
  { dynamodb, environment }: AccessRuntime,
  id: string,
  attributes: OrganizationChanges,
): Promise<OrganizationRecord> {
  const isSame = Object.values(attributes).every((value) => value === undefined);
  if (isSame) return getOrganization({ dynamodb, environment }, id);
  const change = { key: organizationRecordKey(id), set: attributes, condition: "attribute_exists(#pk)" };
  const changed = await changeRecord(dynamodb, environment.ACCESS_TABLE, change);
  if (changed === undefined) throw new NotFoundError(`there is no organization ${id}`);
  return decodeOrganization(changed);
}

/** Reads an organization. @throws NotFoundError */
export async function getOrganization(
  { dynamodb, environment }: AccessRuntime,
  id: string,
): Promise<OrganizationRecord> {
  const item = await getItem(dynamodb, environment.ACCESS_TABLE, organizationRecordKey(id));
  if (item === undefined) throw new NotFoundError(`there is no organization ${id}`);
  return decodeOrganization(item);
}

/** The records in the Access table that match a filter. Reads the whole table. */
export function scanAccess(
  { dynamodb, environment }: AccessRuntime,
  FilterExpression: string,
  ExpressionAttributeValues: Readonly<Record<string, string>>,
): Promise<Attributes[]> {
  const scan = { TableName: environment.ACCESS_TABLE, FilterExpression, ExpressionAttributeValues };
  return allItems(paginateScan({ client: dynamodb }, { ...scan, ConsistentRead: true }));
}

/**
 * All organizations but those with damaged records, in no particular order. Reads the whole Access table.
 * @param onDamaged @default throws
 */
export async function listOrganizations(
  runtime: AccessRuntime,
  onDamaged: OnDamaged = stopAtDamaged,
): Promise<OrganizationRecord[]> {
  const items = await scanAccess(runtime, "sk = :organization", { ":organization": organizationRecordKey("").sk });
  return items.flatMap((item) => unlessDamaged(() => decodeOrganization(item), onDamaged) ?? []);
}

/** @throws StateConflictError if the organization's data is being erased */
export function assertKept({ organization, erasing_since: erasingSince }: OrganizationRecord): void {
  if (erasingSince === undefined) return;
  throw new StateConflictError(`the data of ${organization} is being erased: its erasure started at ${erasingSince}`);
}

/**
 * Checks that an organization wasn't erased, or created again under its id, since it was read.
 * @throws StateConflictError
 */
export function assertSame(before: OrganizationRecord, now: OrganizationRecord): void {
  assertKept(now);
  if (now.cursor_secret !== before.cursor_secret) {
    throw new StateConflictError(`${now.organization} has been erased and created again in the meantime`);
  }
}

/** After this time every function has read the new number of shards. */
const SHARDS_KNOWN_WITHIN_MS = 2 * KEY_CACHE_SECONDS * 1000;

/**
 * Raises the number of shards of an organization's lists: first of those that are read and, a minute later when every
 * function reads them, of those that are written. An interrupted call can be repeated.
 * @param wait waits for that minute
 * @throws StateConflictError if the number is lower than now, or above LISTING_SHARDS_MAX
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
  await wait(SHARDS_KNOWN_WITHIN_MS);
  return changeOrganization(runtime, id, { listing_write_shards: shards });
}
