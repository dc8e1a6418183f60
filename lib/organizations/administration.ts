import {
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { PARTITION_KEY, SORT_KEY } from "../resources.ts";
import { type Clock, isoTime } from "../clock.ts";
import { isConditionFailure, isTransactionCancelled } from "../dynamodb/errors.ts";
import { NotFoundError, StateConflictError } from "../errors.ts";
import {
  type AccessRuntime,
  type ApiKeyRecord,
  decodeKey,
  decodeOrganization,
  keyRecordKey,
  organizationPartition,
  organizationRecordKey,
} from "./access-store.ts";
import type { RegionCode } from "../regions.ts";
import { apiKeyId, generateApiKey, hashApiKey } from "./api-key.ts";
import type { KeyScope } from "./key-scope.ts";
import {
  BURST_DEFAULT,
  generateCursorSecret,
  LISTING_SHARDS_DEFAULT,
  type OrganizationRecord,
  organizationRecordSchema,
  RATE_DEFAULT,
} from "./organization.ts";

/** The Access table of one region, as an operator uses it. No function has these permissions. */
export interface Administration extends AccessRuntime {
  readonly region: RegionCode;
  readonly clock: Clock;
}

/** A new API key, which is shown only once, and its record. */
export interface CreatedKey {
  readonly key: string;
  readonly record: ApiKeyRecord;
}

const KEY_NAME_DEFAULT = "default";

const listedKeyKey = ({ organization, key_id: id }: ApiKeyRecord) => ({
  [PARTITION_KEY]: organizationPartition(organization),
  [SORT_KEY]: `KEY#${id}`,
});

const absent = `attribute_not_exists(${PARTITION_KEY})`;
const present = `attribute_exists(${PARTITION_KEY})`;

/** Limits to set. One that is left out keeps its value, or gets its default for a new organization. */
export interface OrganizationSettings {
  readonly rate?: number | undefined;
  readonly burst?: number | undefined;
}

/**
 * Creates the organization if it does not exist, and sets its limits. Functions see a change within 30 s.
 * @throws ZodError if the id or a limit is not valid
 */
export const putOrganization = async (
  { dynamodb, environment }: Administration,
  id: string,
  settings: OrganizationSettings = {},
): Promise<OrganizationRecord> => {
  const fresh = organizationRecordSchema.parse({
    organization: id,
    rate: settings.rate ?? RATE_DEFAULT,
    burst: settings.burst ?? Math.max(BURST_DEFAULT, settings.rate ?? 0),
    listing_shards: LISTING_SHARDS_DEFAULT,
    agents_indexed: true,
    cursor_secret: generateCursorSecret(),
  });
  const Key = organizationRecordKey(id);
  try {
    await dynamodb.send(
      new PutCommand({ TableName: environment.ACCESS_TABLE, Item: { ...Key, ...fresh }, ConditionExpression: absent }),
    );
    return fresh;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
  }
  return changeOrganization({ dynamodb, environment }, id, { rate: settings.rate, burst: settings.burst });
};

/** Attributes of an organization's record to set. */
export type OrganizationChanges = Partial<{
  readonly [N in keyof OrganizationRecord]: OrganizationRecord[N] | undefined;
}>;

/** Sets attributes of an organization; undefined ones keep their values. @throws NotFoundError */
export const changeOrganization = async (
  { dynamodb, environment }: AccessRuntime,
  id: string,
  attributes: OrganizationChanges,
): Promise<OrganizationRecord> => {
  const changes = Object.entries(attributes).filter(([, value]) => value !== undefined);
  if (changes.length === 0) return getOrganization({ dynamodb, environment }, id);
  try {
    const { Attributes: changed } = await dynamodb.send(
      new UpdateCommand({
        TableName: environment.ACCESS_TABLE,
        Key: organizationRecordKey(id),
        UpdateExpression: `SET ${changes.map(([name]) => `#${name} = :${name}`).join(", ")}`,
        ConditionExpression: present,
        ExpressionAttributeNames: Object.fromEntries(changes.map(([name]) => [`#${name}`, name])),
        ExpressionAttributeValues: Object.fromEntries(changes.map(([name, value]) => [`:${name}`, value])),
        ReturnValues: "ALL_NEW",
      }),
    );
    return decodeOrganization(changed ?? {});
  } catch (error) {
    if (isConditionFailure(error)) throw new NotFoundError(`there is no organization ${id}`);
    throw error;
  }
};

/** Reads an organization. @throws NotFoundError */
export const getOrganization = async (
  { dynamodb, environment }: AccessRuntime,
  id: string,
): Promise<OrganizationRecord> => {
  const { Item: item } = await dynamodb.send(
    new GetCommand({ TableName: environment.ACCESS_TABLE, Key: organizationRecordKey(id), ConsistentRead: true }),
  );
  if (item === undefined) throw new NotFoundError(`there is no organization ${id}`);
  return decodeOrganization(item);
};

/** All organizations, in no particular order. It reads the whole Access table. */
export const listOrganizations = async ({ dynamodb, environment }: AccessRuntime): Promise<OrganizationRecord[]> => {
  const organizations: OrganizationRecord[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const page = await dynamodb.send(
      new ScanCommand({
        TableName: environment.ACCESS_TABLE,
        FilterExpression: `${SORT_KEY} = :organization`,
        ExpressionAttributeValues: { ":organization": organizationRecordKey("")[SORT_KEY] },
        ConsistentRead: true,
        ExclusiveStartKey: start,
      }),
    );
    organizations.push(...(page.Items ?? []).map(decodeOrganization));
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
  return organizations;
};

/** What a new key may be given. */
export interface KeyOptions {
  /** @default "default" */
  readonly name?: string | undefined;
  /** ISO 8601. @default for ever */
  readonly validUntil?: string | undefined;
  /** @default all */
  readonly scopes?: readonly KeyScope[] | undefined;
}

/**
 * Creates an API key, and its organization if it does not exist. The key itself is only in the result, not stored.
 * @throws StateConflictError if the organization's data is being erased
 */
export const createKey = async (
  administration: Administration,
  organization: string,
  options: KeyOptions = {},
): Promise<CreatedKey> => {
  const { dynamodb, environment, region, clock } = administration;
  const { erasing_since: erasingSince } = await putOrganization(administration, organization);
  if (erasingSince !== undefined) {
    throw new StateConflictError(`the data of ${organization} is being erased since ${erasingSince}`);
  }
  const key = generateApiKey(region);
  const hash = hashApiKey(key);
  const record: ApiKeyRecord = {
    organization,
    key_id: apiKeyId(hash),
    hash,
    name: options.name ?? KEY_NAME_DEFAULT,
    created_at: isoTime(clock()),
    ...(options.validUntil !== undefined && { valid_until: options.validUntil }),
    ...(options.scopes !== undefined && { scopes: [...options.scopes] }),
  };
  const put = (Key: Record<string, string>) => ({
    Put: { TableName: environment.ACCESS_TABLE, Item: { ...Key, ...record }, ConditionExpression: absent },
  });
  await dynamodb.send(
    new TransactWriteCommand({ TransactItems: [put(keyRecordKey(hash)), put(listedKeyKey(record))] }),
  );
  return { key, record };
};

/** Lists all API keys of an organization, including revoked and expired ones, newest first. */
export const listKeys = async (
  { dynamodb, environment }: AccessRuntime,
  organization: string,
): Promise<ApiKeyRecord[]> => {
  const keys: ApiKeyRecord[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const page = await dynamodb.send(
      new QueryCommand({
        TableName: environment.ACCESS_TABLE,
        KeyConditionExpression: `${PARTITION_KEY} = :organization AND begins_with(${SORT_KEY}, :keys)`,
        ExpressionAttributeValues: { ":organization": organizationPartition(organization), ":keys": "KEY#" },
        ConsistentRead: true,
        ExclusiveStartKey: start,
      }),
    );
    keys.push(...(page.Items ?? []).map(decodeKey));
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
  return keys.toSorted((a, b) => b.created_at.localeCompare(a.created_at));
};

/** Whether a key is neither revoked nor expired. @param now milliseconds since the epoch */
export const isLive = (key: ApiKeyRecord, now: number): boolean =>
  key.revoked_at === undefined && (key.valid_until === undefined || now < Date.parse(key.valid_until));

/**
 * Revokes a key for ever; functions refuse it within 60 s. A key that is already revoked does not change.
 * @throws NotFoundError if the organization has no key with that id
 */
export const revokeKey = async (
  administration: Administration,
  organization: string,
  keyId: string,
): Promise<ApiKeyRecord> => {
  const { dynamodb, environment, clock } = administration;
  const record = (await listKeys(administration, organization)).find((key) => key.key_id === keyId);
  if (record === undefined) throw new NotFoundError(`organization ${organization} has no key ${keyId}`);
  if (record.revoked_at !== undefined) return record;
  const revokedAt = isoTime(clock());
  const revoke = (Key: Record<string, string>) => ({
    Update: {
      TableName: environment.ACCESS_TABLE,
      Key,
      UpdateExpression: "SET revoked_at = :now",
      ConditionExpression: `${present} AND attribute_not_exists(revoked_at)`,
      ExpressionAttributeValues: { ":now": revokedAt },
    },
  });
  try {
    await dynamodb.send(
      new TransactWriteCommand({ TransactItems: [revoke(keyRecordKey(record.hash)), revoke(listedKeyKey(record))] }),
    );
  } catch (error) {
    if (!isTransactionCancelled(error)) throw error;
    throw new StateConflictError(`key ${keyId} is being changed by another call; try again`);
  }
  return { ...record, revoked_at: revokedAt };
};

/**
 * Creates a new key with the name and the scopes of a live one, unless other scopes are given. Both are valid, so that clients can change to the new one; all older
 * live keys of that name are revoked.
 * @throws NotFoundError if no key of that name is live
 */
export const rotateKey = async (
  administration: Administration,
  organization: string,
  options: KeyOptions = {},
): Promise<CreatedKey & { readonly previous: ApiKeyRecord; readonly revoked: readonly ApiKeyRecord[] }> => {
  const name = options.name ?? KEY_NAME_DEFAULT;
  const live = (await listKeys(administration, organization)).filter(
    (key) => key.name === name && isLive(key, administration.clock()),
  );
  const [previous, ...older] = live;
  if (previous === undefined) throw new NotFoundError(`organization ${organization} has no live key named ${name}`);
  const revoked: ApiKeyRecord[] = [];
  for (const key of older) revoked.push(await revokeKey(administration, organization, key.key_id));
  const scopes = options.scopes ?? previous.scopes;
  return { ...(await createKey(administration, organization, { ...options, name, scopes })), previous, revoked };
};
