import type { RecordKey } from "@work-items/lib/store/versioned-record.ts";
import { gapKey } from "@work-items/lib/changes/due-gaps.ts";
import {
  keyRecordKey,
  listedKeyKey,
  listedOrganizationKey,
  organizationPartition,
} from "@work-items/lib/organizations/access-store.ts";
import { keyUseKey } from "@work-items/lib/organizations/key-use.ts";
import { rateLimitKey } from "@work-items/lib/organizations/limit-record.ts";
import type { KeyNames } from "./key-management.ts";
import type { ListingKind } from "@work-items/lib/store/lists/partition.ts";
import { JOB_SORT_KEY, jobKey } from "@work-items/lib/uploads/job/upload-store.ts";
import { EVENT_SORT_KEY_PREFIX, ITEM_SORT_KEY } from "@work-items/lib/work-items/work-item-record.ts";
import { type PartitionKind, partitionKeyOf, type RecordKind, type ResourceNameOf } from "@work-items/lib/resources.ts";

/** What an erasure counts, beside objects and keys. */
export type ErasedKind = "work_items" | "events" | "upload_jobs" | "conversation_uploads" | "other_records";

/** Lists of the same index. Records may move from one to another. */
export type Lists = readonly ListingKind[];

/** What erasures and exports do with the records of one kind of partition. */
interface KindOfData {
  readonly ownerOf: (key: RecordKey) => string | undefined;
  readonly erasedAs: (key: RecordKey) => ErasedKind;
  /** Key of the record to which one belongs; undefined for a record of its own. */
  readonly parentOf: (key: RecordKey) => RecordKey | undefined;
  /** What its lines in an export are; null if it has none. */
  readonly exportedAs: "work item" | "conversation upload" | null;
  /** The lists that lead to its partitions. If there are none, it is found with a listed record, or by a scan of the table. */
  readonly lists: Lists;
}

function secondPart({ pk }: RecordKey): string | undefined {
  return pk.split("#")[1];
}
const others: KindOfData = {
  ownerOf: secondPart,
  erasedAs: () => "other_records",
  parentOf: () => undefined,
  exportedAs: null,
  lists: [],
};

/** A record belongs to the one of its partition that has this sort key. */
function inPartitionOf(sortKey: string): KindOfData["parentOf"] {
  return ({ pk, sk }) => (sk === sortKey ? undefined : { pk, sk: sortKey });
}

/** The job of a dry run's record. */
function jobOfPlan({ pk }: RecordKey): RecordKey {
  const [, organization = "", id = ""] = pk.split("#");
  return jobKey({ organization, id });
}

/** All kinds of records in the WorkItems table. A new kind must say here how it is found, erased and exported. */
const kindsOfData: Readonly<Record<RecordKind, KindOfData> & Partial<Record<PartitionKind, KindOfData>>> = {
  ITEM: {
    ownerOf: secondPart,
    erasedAs: ({ sk }) => {
      if (sk === ITEM_SORT_KEY) return "work_items";
      return sk.startsWith(EVENT_SORT_KEY_PREFIX) ? "events" : "other_records";
    },
    parentOf: inPartitionOf(ITEM_SORT_KEY),
    exportedAs: "work item",
    lists: ["LIST_ITEM", "LIST_DELETED_ITEM"],
  },
  CONVERSATION: {
    ...others,
    erasedAs: () => "conversation_uploads",
    exportedAs: "conversation upload",
    lists: ["LIST_CONVERSATION"],
  },
  UPLOAD: {
    ...others,
    erasedAs: ({ sk }) => (sk === JOB_SORT_KEY ? "upload_jobs" : "other_records"),
    parentOf: inPartitionOf(JOB_SORT_KEY),
    lists: ["LIST_UPLOAD"],
  },
  // Found with its job.
  DRY_RUN: { ...others, parentOf: jobOfPlan },
  // Read by the health check, never written.
  HEALTH: { ...others, ownerOf: () => undefined },
  HEARTBEAT: { ...others, ownerOf: () => undefined },
  ORIGIN: { ...others, ownerOf: () => undefined },
};

const allKinds = Object.values(kindsOfData);
/** All lists that lead to partitions of the WorkItems table. */
export const LISTS: readonly Lists[] = allKinds.map(({ lists }) => lists).filter(({ length }) => length > 0);
/** The lists that lead to exported records. */
export const EXPORTED_LISTS: readonly Lists[] = allKinds
  .filter((kind) => kind.exportedAs !== null)
  .map(({ lists }) => lists);

export function kindOf({ pk }: Pick<RecordKey, "pk">): PartitionKind {
  return pk.slice(0, pk.indexOf("#")) as PartitionKind;
}

/** The organization that owns a record; undefined for records of the service. */
export function ownerOf(key: RecordKey): string | undefined {
  // So that records of an unknown kind are erased too.
  const kind = kindsOfData[kindOf(key)] ?? others;
  return kind.ownerOf(key);
}

/** As what an erasure counts a record. */
export function erasedAs(key: RecordKey): ErasedKind {
  return (kindsOfData[kindOf(key)] ?? others).erasedAs(key);
}

/** Key of the record to which one belongs: the job of a shard, the item of an event. */
export function parentOf(key: RecordKey): RecordKey | undefined {
  return kindsOfData[kindOf(key)]?.parentOf(key);
}

/** What a record's lines in an export are; null if it has none. */
export function exportedAs(key: RecordKey): KindOfData["exportedAs"] {
  return kindsOfData[kindOf(key)]?.exportedAs ?? null;
}

/** What stays in a table when an organization or a person is erased. */
export interface Kept {
  readonly what: string;
  /** Whether it holds only ids and times, and no content such as an address. @default false */
  readonly without_content?: true;
  /** Whether people wrote or made it, so that its end isn't known. @default false */
  readonly by_hand?: true;
}

interface TableOfData {
  /**
   * What an organization's erasure deletes last. Its passes need the organization, and keys are refused while the organization's
   * record says that it is being erased.
   */
  readonly last: (organization: string, keys: readonly KeyNames[]) => readonly RecordKey[];
  /** The partitions with texts that people wrote. A person's erasure looks through them. */
  readonly texts: (organization: string) => readonly string[];
  /** What every receipt names, because it stays. @default nothing */
  readonly kept?: readonly Kept[];
}
const withoutTexts = { texts: () => [] };

/** All tables. A new one must say here what it holds. */
export const tablesOfData: Readonly<Record<ResourceNameOf<"table">, TableOfData>> = {
  // Every erasure visits all of its records.
  workItems: { last: () => [], texts: () => [] },
  limits: {
    ...withoutTexts,
    last: (organization, keys) => [rateLimitKey(organization), ...keys.map(({ key_id: id }) => keyUseKey(id))],
  },
  access: {
    // The organization's own record is deleted after all others.
    last: (organization, keys) => [
      ...keys.flatMap((key) => [keyRecordKey(key.hash), listedKeyKey(key)]),
      listedOrganizationKey(organization),
    ],
    // Names of keys.
    texts: (organization) => [organizationPartition(organization)],
  },
  // Every pass erases the log, and nothing is appended while the organization is being erased. It holds ids.
  changes: { ...withoutTexts, last: (organization) => [gapKey(organization)] },
  webhooks: {
    // Every pass erases them, and no key can create one while the organization is being erased.
    last: () => [],
    // Not the states: they hold ids, times and our own words.
    texts: (organization) => [partitionKeyOf("WEBHOOK", organization)],
  },
  // Stays: it says what was erased, and by whom.
  audit: {
    ...withoutTexts,
    last: () => [],
    kept: [
      { what: "the ledger of erasures: ids and times, and an HMAC of a person's address", without_content: true },
      { what: "the log of commands: who ran them, and the names that they gave to keys", by_hand: true },
    ],
  },
};
