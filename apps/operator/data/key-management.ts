import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { retry } from "@work-items/lib/retry.ts";
import type { Attributes } from "@work-items/lib/aws/attribute-values.ts";
import type { RuntimeWith } from "@work-items/lib/aws/runtime.ts";
import { keyUseKey } from "@work-items/lib/organizations/key-use.ts";
import { isoTime } from "@work-items/lib/clock.ts";
import { readPartition } from "@work-items/lib/store/all-items.ts";
import { batchGet, getItem } from "@work-items/lib/store/batch-get.ts";
import { type OnDamaged, readablePart, stopAtDamaged, unlessDamaged } from "@work-items/lib/store/decode-record.ts";
import { toUpdate } from "@work-items/lib/store/conditional-update.ts";
import { tryOnce } from "@work-items/lib/store/conditional-write.ts";
import { NotFoundError, StateConflictError } from "@work-items/lib/errors.ts";
import {
  type AccessRuntime,
  type ApiKeyRecord,
  apiKeyRecordSchema,
  decodeKey,
  keyRecordKey,
  listedKeyKey,
  organizationPartition,
  organizationRecordKey,
} from "@work-items/lib/organizations/access-store.ts";
import { apiKeyId, generateApiKey, hashApiKey, type KeyScope } from "@work-items/lib/organizations/api-key.ts";
import { type Administration, assertKept, getOrganization, putOrganization, scanAccess } from "./administration.ts";

/** A transaction conflicts with those of other commands. */
const CREATING = { attempts: 8, message: "other commands keep changing the organization; run the command again" };
const absent = "attribute_not_exists(pk)";
const present = "attribute_exists(pk)";

/** A new API key, which is shown only once, and its record. */
export interface CreatedKey {
  readonly key: string;
  readonly record: ApiKeyRecord;
}

const KEY_NAME_DEFAULT = "default";
/** What the caller may choose for a new key. */
export interface KeyOptions {
  /** @default "default" */
  readonly name?: string | undefined;
  /** ISO 8601. @default never expires */
  readonly validUntil?: string | undefined;
  /** @default all */
  readonly scopes?: readonly KeyScope[] | undefined;
  /** Id of the key that the new one is to replace. @default none */
  readonly replaces?: string | undefined;
}

/**
 * Creates an API key, and its organization if that doesn't exist. The key itself isn't stored: only the result has it.
 * @throws StateConflictError if the organization's data is being erased, StoreBusyError if others keep changing it
 */
export async function createKey(
  administration: Administration,
  organization: string,
  options: KeyOptions = {},
): Promise<CreatedKey> {
  const { dynamodb, environment, region, clock } = administration;
  assertKept(await putOrganization(administration, organization));
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
    ...(options.replaces !== undefined && { replaces: options.replaces }),
  };
  const put = (Key: Record<string, string>) => ({
    Put: { TableName: environment.ACCESS_TABLE, Item: { ...Key, ...record }, ConditionExpression: absent },
  });
  // An erasure deletes the keys that it finds after its note, so none may be created after that.
  const isKept = {
    ConditionCheck: {
      TableName: environment.ACCESS_TABLE,
      Key: organizationRecordKey(organization),
      ConditionExpression: `${present} AND attribute_not_exists(erasing_since)`,
    },
  };
  const write = new TransactWriteCommand({
    TransactItems: [isKept, put(keyRecordKey(hash)), put(listedKeyKey(record))],
  });
  return retry(CREATING, async () => {
    if (await tryOnce(dynamodb, write)) return { key, record };
    assertKept(await getOrganization(administration, organization));
    return undefined;
  });
}

/** What identifies the records of an API key. */
export type KeyNames = Pick<ApiKeyRecord, "organization" | "key_id" | "hash">;

function decodeKeys(items: readonly Attributes[], onDamaged: OnDamaged): ApiKeyRecord[] {
  const keys = items.flatMap((item) => unlessDamaged(() => decodeKey(item), onDamaged) ?? []);
  return keys.toSorted(
    (a, b) => a.organization.localeCompare(b.organization) || b.created_at.localeCompare(a.created_at),
  );
}

/**
 * Lists an organization's API keys, newest first, including revoked and expired ones but not damaged ones.
 * @param onDamaged @default throws
 */
export async function listKeys(
  { dynamodb, environment }: AccessRuntime,
  organization: string,
  onDamaged: OnDamaged = stopAtDamaged,
): Promise<ApiKeyRecord[]> {
  const items = await readPartition(dynamodb, environment.ACCESS_TABLE, organizationPartition(organization));
  return decodeKeys(
    items.filter(({ sk }) => String(sk).startsWith("KEY#")),
    onDamaged,
  );
}

/**
 * The API keys of all organizations, by organization and newest first, but not damaged ones. Reads the whole Access table.
 * @param onDamaged @default throws
 */
export async function listAllKeys(
  runtime: AccessRuntime,
  onDamaged: OnDamaged = stopAtDamaged,
): Promise<ApiKeyRecord[]> {
  return decodeKeys(await scanAccess(runtime, "begins_with(sk, :keys)", { ":keys": "KEY#" }), onDamaged);
}

/** The hours in which keys were last used, ISO 8601, by key id. Keys that were never used are missing. */
export async function lastUsesOf(
  { dynamodb, environment }: Pick<RuntimeWith<"limits">, "dynamodb" | "environment">,
  keys: readonly Pick<ApiKeyRecord, "key_id">[],
): Promise<ReadonlyMap<string, string>> {
  const useKeys = keys.map(({ key_id: id }) => keyUseKey(id));
  const found = await batchGet(dynamodb, environment.LIMITS_TABLE, useKeys);
  return new Map(
    found.flatMap(({ pk, used_at: usedAt }) =>
      typeof usedAt === "string" ? [[String(pk).slice("KEY#".length), usedAt]] : [],
    ),
  );
}

/**
 * What identifies all API keys of an organization, damaged ones too. Each of a key's two records leads to the other. Reads the
 * whole Access table.
 */
export async function listKeyNames(runtime: AccessRuntime, organization: string): Promise<KeyNames[]> {
  const { pk, sk } = listedKeyKey({ organization, key_id: "" });
  const filter = "(pk = :pk AND begins_with(sk, :keys)) OR (sk = :key AND organization = :organization)";
  const values = { ":pk": pk, ":keys": sk, ":key": keyRecordKey("").sk, ":organization": organization };
  const hashes = new Map<string, string>();
  for (const { pk: partition, sk: sortKey, hash } of await scanAccess(runtime, filter, values)) {
    const known = partition === pk ? hash : String(partition).slice(keyRecordKey("").pk.length);
    const id = partition === pk ? String(sortKey).slice(sk.length) : apiKeyId(String(known));
    if (typeof known === "string" || !hashes.has(id)) hashes.set(id, String(known));
  }
  return [...hashes].map(([id, hash]) => ({ organization, key_id: id, hash }));
}

/** Whether a key is neither revoked nor expired. @param now milliseconds since the epoch */
export function isLive(key: Pick<ApiKeyRecord, "revoked_at" | "valid_until">, now: number): boolean {
  return key.revoked_at === undefined && (key.valid_until === undefined || now < Date.parse(key.valid_until));
}

/** A revoked key, as far as its record can be read. */
export type RevokedKey = Partial<ApiKeyRecord> & Pick<ApiKeyRecord, "organization" | "key_id">;

/**
 * Revokes a key permanently; functions reject it within 60 s. A key that is already revoked doesn't change.
 * @param onDamaged called if its record is damaged; it is revoked nevertheless. @default throws
 * @throws NotFoundError if the organization has no key with that id
 */
export async function revokeKey(
  administration: Administration,
  organization: string,
  keyId: string,
  onDamaged: OnDamaged = stopAtDamaged,
): Promise<RevokedKey> {
  const { dynamodb, environment, clock } = administration;
  const names = { organization, key_id: keyId };
  const item = await getItem(dynamodb, environment.ACCESS_TABLE, listedKeyKey(names));
  if (item === undefined) throw new NotFoundError(`organization ${organization} has no key ${keyId}`);
  const record = unlessDamaged(() => decodeKey(item), onDamaged);
  if (record?.revoked_at !== undefined) return record;
  const hash =
    record?.hash ?? (await listKeyNames(administration, organization)).find((key) => key.key_id === keyId)?.hash;
  const revokedAt = isoTime(clock());
  const condition = `attribute_exists(#pk)${record === undefined ? "" : " AND attribute_not_exists(#revoked_at)"}`;
  const revoke = (key: ReturnType<typeof keyRecordKey>) => ({
    Update: toUpdate(environment.ACCESS_TABLE, { key, set: { revoked_at: revokedAt }, condition }),
  });
  const TransactItems = [revoke(keyRecordKey(String(hash))), revoke(listedKeyKey(names))];
  if (!(await tryOnce(dynamodb, new TransactWriteCommand({ TransactItems })))) {
    throw new StateConflictError(`key ${keyId} is being changed by another call; try again`);
  }
  return { ...readablePart(apiKeyRecordSchema, item).readable, ...names, revoked_at: revokedAt };
}

/** Which key is rotated. */
type RotationOptions = Omit<KeyOptions, "replaces"> & {
  /** Id of the key. @default the key with the name that no live key replaces */
  readonly keyId?: string | undefined;
};

/** The key to rotate. @throws NotFoundError, StateConflictError if several have the name */
function keyToRotate(
  live: readonly ApiKeyRecord[],
  organization: string,
  { keyId, name = KEY_NAME_DEFAULT }: RotationOptions,
): ApiKeyRecord {
  if (keyId !== undefined) {
    const named = live.find((key) => key.key_id === keyId);
    if (named === undefined) throw new NotFoundError(`organization ${organization} has no live key ${keyId}`);
    return named;
  }
  const replaced = new Set(live.map((key) => key.replaces));
  const [newest, ...others] = live.filter((key) => key.name === name && !replaced.has(key.key_id));
  if (newest === undefined) throw new NotFoundError(`organization ${organization} has no live key named ${name}`);
  if (others.length === 0) return newest;
  const ids = [newest, ...others].map((key) => key.key_id).join(", ");
  throw new StateConflictError(
    `organization ${organization} has several keys named ${name}; name one by its ID: ${ids}`,
  );
}

/**
 * Creates a new key with the name and the scopes of a live one, unless other scopes are given. Both stay valid, so that
 * clients can switch to the new one. The key that the rotated key replaced is revoked; other keys with the same name
 * aren't changed.
 * @throws NotFoundError if no live key matches; StateConflictError if several have the name
 */
export async function rotateKey(
  administration: Administration,
  organization: string,
  { keyId, ...options }: RotationOptions = {},
): Promise<CreatedKey & { readonly previous: ApiKeyRecord; readonly revoked: readonly RevokedKey[] }> {
  const keys = await listKeys(administration, organization, () => undefined);
  const live = keys.filter((key) => isLive(key, administration.clock()));
  const previous = keyToRotate(live, organization, { keyId, name: options.name });
  const older = live.find((key) => key.key_id === previous.replaces);
  const revoked = older === undefined ? [] : [await revokeKey(administration, organization, older.key_id)];
  const created = await createKey(administration, organization, {
    ...options,
    name: options.name ?? previous.name,
    scopes: options.scopes ?? previous.scopes,
    replaces: previous.key_id,
  });
  return { ...created, previous, revoked };
}
