import type { Attributes } from "@work-items/lib/aws/attribute-values.ts";
import { isoTime } from "@work-items/lib/clock.ts";
import { NotFoundError, StateConflictError } from "@work-items/lib/errors.ts";
import {
  type AccessRuntime,
  apiKeyRecordSchema,
  decodeOrganization,
  keyRecordKey,
  listedKeyKey,
  organizationRecordKey,
} from "@work-items/lib/organizations/access-store.ts";
import {
  BURST_DEFAULT,
  generateCursorSecret,
  LISTING_SHARDS_MAX,
  type OrganizationRecord,
  organizationRecordSchema,
  RATE_DEFAULT,
} from "@work-items/lib/organizations/organization.ts";
import { getItem } from "@work-items/lib/store/batch-get.ts";
import { changeRecord } from "@work-items/lib/store/conditional-update.ts";
import { type OnDamaged, readablePart, unlessDamaged } from "@work-items/lib/store/decode-record.ts";
import type { RecordKey } from "@work-items/lib/store/versioned-record.ts";
import { fileDue } from "@work-items/lib/uploads/files/upload-form.ts";
import { FORM_MAX_BYTES } from "@work-items/lib/uploads/job/upload-job.ts";
import { type Administration, MICROSECONDS } from "./administration.ts";
import { listKeyNames } from "./key-management.ts";

/** What an operator gives for attributes that can't be read. */
export type GivenAttributes = { readonly [K in (typeof TO_GIVE)[number]]?: number | undefined };
/** Limits that an operator has set and that can't be derived. */
const TO_GIVE = ["rate", "burst", "listing_shards", "retention_days"] as const;

/** The attributes of an organization's record, each read by itself. @throws NotFoundError */
async function readAttributes({ dynamodb, environment }: AccessRuntime, id: string) {
  const item = await getItem(dynamodb, environment.ACCESS_TABLE, organizationRecordKey(id));
  if (item === undefined) throw new NotFoundError(`there is no organization ${id}`);
  return { item, ...readablePart(organizationRecordSchema, item) };
}
type ReadAttributes = Awaited<ReturnType<typeof readAttributes>>;

/**
 * Reads an organization as far as it can be read.
 * @param onDamaged called if its record is damaged
 * @throws NotFoundError
 */
export async function readOrganization(
  runtime: AccessRuntime,
  id: string,
  onDamaged: OnDamaged,
): Promise<Partial<OrganizationRecord>> {
  const { item, readable } = await readAttributes(runtime, id);
  unlessDamaged(() => decodeOrganization(item), onDamaged);
  return { ...readable, organization: id };
}

/** The record with values for the attributes that can't be read. @param now milliseconds since the epoch */
function completed(
  id: string,
  { readable, damaged }: ReadAttributes,
  now: number,
  given: GivenAttributes = {},
): OrganizationRecord {
  const since = isoTime(now);
  const values: Attributes = {
    organization: id,
    rate: RATE_DEFAULT,
    burst: BURST_DEFAULT,
    // Lists are read whole, however many shards they have.
    listing_shards: LISTING_SHARDS_MAX,
    // Cursors that callers have are no longer valid.
    cursor_secret: generateCursorSecret(),
    // As for a new organization, above all earlier numbers: readers of its feed load everything again.
    changes_from: now * MICROSECONDS,
    // An attribute that is there says that its erasure has started. A form may have been signed just before.
    erasing_since: since,
    files_until: isoTime(fileDue({ created_at: since, expected_size: FORM_MAX_BYTES })),
    ...given,
  };
  return organizationRecordSchema.parse({
    ...readable,
    ...Object.fromEntries(damaged.map((name) => [name, values[name]])),
  });
}

/**
 * Reads an organization whose data is to be read or erased whole. If its record is damaged, other values stand for what can't be
 * read.
 * @param onDamaged called if its record is damaged
 * @throws NotFoundError
 */
export async function readForErasure(
  runtime: Pick<Administration, "clock"> & AccessRuntime,
  id: string,
  onDamaged: OnDamaged,
): Promise<OrganizationRecord> {
  const read = await readAttributes(runtime, id);
  return unlessDamaged(() => decodeOrganization(read.item), onDamaged) ?? completed(id, read, runtime.clock());
}

/** Sets what can't be read of a record, if that is still as it was. @returns the new record; undefined if it isn't */
function replaceDamaged(
  { dynamodb, environment }: AccessRuntime,
  key: RecordKey,
  { item, damaged }: { readonly item: Attributes; readonly damaged: readonly string[] },
  values: Attributes,
): Promise<Attributes | undefined> {
  const isAsRead = damaged.map((name) =>
    item[name] === undefined ? `attribute_not_exists(#${name})` : `#${name} = :was_${name}`,
  );
  const present = damaged.filter((name) => item[name] !== undefined);
  return changeRecord(dynamodb, environment.ACCESS_TABLE, {
    key,
    set: Object.fromEntries(damaged.map((name) => [name, values[name]])),
    remove: damaged.filter((name) => values[name] === undefined),
    condition: ["attribute_exists(#pk)", ...isAsRead].join(" AND "),
    given: Object.fromEntries(present.map((name) => [`was_${name}`, item[name]])),
  });
}

async function writeCompleted(
  administration: Administration,
  id: string,
  read: ReadAttributes,
  given: GivenAttributes = {},
): Promise<OrganizationRecord> {
  const record = completed(id, read, administration.clock(), given);
  const written = await replaceDamaged(administration, organizationRecordKey(id), read, record);
  if (written !== undefined) return decodeOrganization(written);
  throw new StateConflictError(`another command has changed ${id} in the meantime`);
}

/** Writes what can't be read of an organization that is to be erased, so that its erasure can start. @throws NotFoundError */
export async function repairForErasure(
  administration: Administration,
  id: string,
  onDamaged: OnDamaged,
): Promise<OrganizationRecord> {
  const read = await readAttributes(administration, id);
  const intact = unlessDamaged(() => decodeOrganization(read.item), onDamaged);
  return intact ?? writeCompleted(administration, id, read);
}

function inWords(names: readonly string[]): string {
  return names.map((name) => `--${name.replaceAll("_", "-")}`).join(" and ");
}

/** What a repair has done. */
export interface Repaired {
  readonly record: OrganizationRecord;
  /** Names of the organization's attributes that were written again. */
  readonly attributes: readonly string[];
  /** Ids of the keys that were written again. */
  readonly keys: readonly string[];
  /** Ids of the keys that neither of their records can restore. */
  readonly lost: readonly string[];
}

/**
 * Writes again what can't be read of an organization and its keys, and nothing else: limits as they are given, parts of a key from
 * its other record.
 * @throws NotFoundError, StateConflictError if nothing is damaged, if something that can't be read wasn't given or something that
 * can be read was, or if another command has changed the organization in the meantime
 */
export async function repairOrganization(
  administration: Administration,
  id: string,
  given: GivenAttributes,
): Promise<Repaired> {
  const read = await readAttributes(administration, id);
  const { damaged, readable } = read;
  const missing = TO_GIVE.filter((name) => damaged.includes(name) && given[name] === undefined);
  if (missing.length > 0) throw new StateConflictError(`can't be read: give ${inWords(missing)}`);
  const kept = TO_GIVE.filter((name) => !damaged.includes(name) && given[name] !== undefined);
  if (kept.length > 0) {
    throw new StateConflictError(`can be read, and is changed with organizations set: ${inWords(kept)}`);
  }
  const { listing_write_shards: written = 1 } = readable;
  if ((given.listing_shards ?? LISTING_SHARDS_MAX) < written) {
    throw new StateConflictError(`--listing-shards: entries are written into ${written} shards`);
  }
  const record =
    damaged.length === 0 ? decodeOrganization(read.item) : await writeCompleted(administration, id, read, given);
  const keys = await repairKeys(administration, id);
  if (damaged.length + keys.repaired.length + keys.lost.length === 0) {
    throw new StateConflictError(`all records of ${id} and its keys can be read`);
  }
  return { record, attributes: damaged, keys: keys.repaired, lost: keys.lost };
}

/** Restores each of a key's two records from the other. What both have lost stays as it is. */
async function repairKeys(runtime: AccessRuntime, organization: string) {
  const repaired: string[] = [];
  const lost: string[] = [];
  for (const names of await listKeyNames(runtime, organization)) {
    const read = async (key: RecordKey) => {
      const item = await getItem(runtime.dynamodb, runtime.environment.ACCESS_TABLE, key);
      return { key, item: item ?? {}, ...readablePart(apiKeyRecordSchema, item ?? {}) };
    };
    const both = [await read(keyRecordKey(names.hash)), await read(listedKeyKey(names))] as const;
    const [byHash, listed] = both;
    if (both.every(({ damaged }) => damaged.length === 0)) continue;
    const isLost = byHash.damaged.some((name) => !(name in names) && listed.damaged.includes(name));
    const isGone = both.some(({ item }) => item["pk"] === undefined);
    const isWritten = async (one: typeof byHash, other: typeof byHash): Promise<boolean> =>
      one.damaged.length === 0 ||
      (await replaceDamaged(runtime, one.key, one, { ...other.readable, ...names })) !== undefined;
    const isDone = !isLost && !isGone && (await isWritten(byHash, listed)) && (await isWritten(listed, byHash));
    (isDone ? repaired : lost).push(names.key_id);
  }
  return { repaired, lost };
}
