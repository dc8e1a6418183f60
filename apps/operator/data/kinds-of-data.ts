import type { RecordKey } from "../../../lib/store/versioned-record.ts";
import { gapKey } from "../../../lib/changes/due-gaps.ts";
import { keyRecordKey, listedKeyKey, listedOrganizationKey } from "../../../lib/organizations/access-store.ts";
import { keyUseKey } from "../../../lib/organizations/key-use.ts";
import { rateLimitKey } from "../../../lib/organizations/limit-record.ts";
import type { KeyNames } from "./key-management.ts";
import type { ListingKind } from "../../../lib/store/lists/partition.ts";
import { EVENT_SORT_KEY_PREFIX, ITEM_SORT_KEY } from "../../../lib/work-items/work-item-record.ts";
import type { PartitionKind, RecordKind, ResourceNameOf } from "../../../lib/resources.ts";

/** What an erasure counts, beside objects and keys. */
export type ErasedKind = "work_items" | "events" | "upload_jobs" | "conversation_uploads" | "other_records";

/** Lists in partitions of the same index, between which records may move. */
export type Lists = readonly ListingKind[];

/** What erasures and exports do with the records of one kind of partition. */
interface KindOfData {
  readonly ownerOf: (key: RecordKey) => string | undefined;
  readonly erasedAs: (key: RecordKey) => ErasedKind;
  /** What its lines in an export are; null if it has none. */
  readonly exportedAs: "work item" | "conversation upload" | null;
  /** The lists that name its partitions. Without any, it is found beside a listed record, or by a scan of the table. */
  readonly lists: Lists;
}

function secondPart({ pk }: RecordKey): string | undefined {
  return pk.split("#")[1];
}
const others: KindOfData = { ownerOf: secondPart, erasedAs: () => "other_records", exportedAs: null, lists: [] };

/** All kinds of records in the WorkItems table. A new kind must say here how it is found, erased and exported. */
const kindsOfData: Readonly<Record<RecordKind, KindOfData> & Partial<Record<PartitionKind, KindOfData>>> = {
  ITEM: {
    ownerOf: secondPart,
    erasedAs: ({ sk }) => {
      if (sk === ITEM_SORT_KEY) return "work_items";
      return sk.startsWith(EVENT_SORT_KEY_PREFIX) ? "events" : "other_records";
    },
    exportedAs: "work item",
    lists: ["LIST_ITEM", "LIST_DELETED_ITEM"],
  },
  CONVERSATION: {
    ownerOf: secondPart,
    erasedAs: () => "conversation_uploads",
    exportedAs: "conversation upload",
    lists: ["LIST_CONVERSATION"],
  },
  UPLOAD: {
    ...others,
    erasedAs: ({ sk }) => (sk === "#JOB" ? "upload_jobs" : "other_records"),
    lists: ["LIST_UPLOAD"],
  },
  // Found beside its job.
  DRY_RUN: others,
  // Read by the health check, never written.
  HEALTH: { ...others, ownerOf: () => undefined },
  HEARTBEAT: { ...others, ownerOf: () => undefined },
  ORIGIN: { ...others, ownerOf: () => undefined },
};

const allKinds = Object.values(kindsOfData);
/** All lists that name partitions of the WorkItems table. */
export const LISTS: readonly Lists[] = allKinds.map(({ lists }) => lists).filter(({ length }) => length > 0);
/** Those of what is exported. */
export const EXPORTED_LISTS: readonly Lists[] = allKinds
  .filter((kind) => kind.exportedAs !== null)
  .map(({ lists }) => lists);

/** Kind of a record's partition. */
export function kindOf({ pk }: Pick<RecordKey, "pk">): PartitionKind {
  return pk.slice(0, pk.indexOf("#")) as PartitionKind;
}

/** The organization whose record it is; undefined if it belongs to none. */
export function ownerOf(key: RecordKey): string | undefined {
  // A record of a kind that this version does not know belongs to the organization in its key, so that it is erased.
  const kind = kindsOfData[kindOf(key)] ?? others;
  return kind.ownerOf(key);
}

/** What an erasure counts a record as. */
export function erasedAs(key: RecordKey): ErasedKind {
  return (kindsOfData[kindOf(key)] ?? others).erasedAs(key);
}

/** What a record's lines in an export are; null if it has none. */
export function exportedAs(key: RecordKey): KindOfData["exportedAs"] {
  return kindsOfData[kindOf(key)]?.exportedAs ?? null;
}

/**
 * What an erasure deletes last from each table, by key: the passes over the WorkItems table need the organization, and
 * its keys are refused while its record says that it is being erased. A new table must say here what it holds.
 */
export const lastRecords: Readonly<
  Record<ResourceNameOf<"table">, (organization: string, keys: readonly KeyNames[]) => readonly RecordKey[]>
> = {
  workItems: () => [],
  limits: (organization, keys) => [rateLimitKey(organization), ...keys.map(({ key_id: id }) => keyUseKey(id))],
  // The organization's own record is deleted after all others.
  access: (organization, keys) => [
    ...keys.flatMap((key) => [keyRecordKey(key.hash), listedKeyKey(key)]),
    listedOrganizationKey(organization),
  ],
  // Its log is erased in every pass, and nothing is added to it while the organization is being erased.
  changes: (organization) => [gapKey(organization)],
  // Erased in every pass: no key can create one while the organization is being erased.
  webhooks: () => [],
  // It says that the organization was erased, and by whom.
  audit: () => [],
};
