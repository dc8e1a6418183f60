import type { Clock } from "../clock.ts";
import { keyText } from "../store/batch-get.ts";
import type { RecordStore } from "../store/record-store.ts";
import type { Attributes } from "../aws/attribute-values.ts";
import type { RecordKey, StoredRecord } from "../store/versioned-record.ts";
import type { Organization } from "../organizations/organization.ts";
import { partitionKeyOf, TIME_TO_LIVE } from "../resources.ts";
import type { RecordWrite } from "../store/optimistic-write.ts";
import { NO_CHANGES, type RowChanges, rowChangesOf, type Undoable } from "./changed-fields.ts";
import { layersAfter, writeWithEvent } from "./undo/undo.ts";
import type { Import } from "./undo/layers.ts";
import type { WorkItem } from "./work-item.ts";
import { attributesOf, itemIdOf } from "./work-item-record.ts";

/** The records of items and events that plans read and write. */
export interface ItemRecords {
  /** Reads the records for items and events. @returns those that exist, by `keyText` of their own keys */
  readonly read: (keys: readonly RecordKey[]) => Promise<ReadonlyMap<string, StoredRecord>>;
  /** Key of the record for an item or event. */
  readonly keyOf: (key: RecordKey) => RecordKey;
  /** The record to plan on while there is none with `keyOf`. @param key of the item or event */
  readonly baseOf: (key: RecordKey) => StoredRecord | undefined;
  /** The attributes that store an item. */
  readonly ofItem: (id: string, item: WorkItem) => Attributes;
  /** Attributes of every record. */
  readonly common: () => Attributes;
  /** As `layersAfter`. */
  readonly layers: (stored: StoredRecord | undefined, before: Undoable | null, next: Undoable) => Attributes;
  /** What a row changes in its item, if that is to be shown. */
  readonly changes: (before: WorkItem, next: WorkItem) => RowChanges;
  /** As `writeWithEvent`. */
  readonly withEvent: (owner: StoredRecord | undefined) => RecordWrite | undefined;
}

/** The records of the items and events themselves. @param job the import that writes them; undefined for other writers */
export function createStoredRecords(
  store: RecordStore,
  organization: Organization,
  clock: Clock,
  job: Import | undefined,
): ItemRecords {
  return {
    read: store.read,
    keyOf: (key) => key,
    baseOf: () => undefined,
    ofItem: (id, item) => attributesOf(organization, id, item),
    common: () => ({}),
    layers: (stored, before, next) => layersAfter(stored, before, next, clock(), job),
    changes: () => NO_CHANGES,
    withEvent: (owner) => writeWithEvent(owner, clock(), job),
  };
}

/** How long a dry run's records are kept after their last change: as long as its job may wait for the store. */
const PLANNED_SECONDS = 86_400;

/** Partitions of a dry run's records. Few can be read for every job; one alone would take only 1,000 writes a second. */
const PLAN_PARTITIONS = 8;

function planPartition(organization: string, job: string, number: number): string {
  return partitionKeyOf("DRY_RUN", organization, job, number);
}

/** The partitions that hold the records of a dry run. @param job id of the upload job */
export function planPartitions(organization: string, job: string): string[] {
  return Array.from({ length: PLAN_PARTITIONS }, (_, number) => planPartition(organization, job, number));
}

/** Key of a dry run's record of an item or event. @param job id of the upload job */
export function planKeyOf(organization: string, job: string, key: RecordKey): RecordKey {
  const item = itemIdOf(key);
  return {
    pk: planPartition(organization, job, Number.parseInt(item.slice(0, 8), 16) % PLAN_PARTITIONS),
    sk: `${item}#${key.sk}`,
  };
}

/**
 * The records that the dry run of a file keeps beside the items and events: what each would be after the rows so far.
 * They aren't in any list, and they expire.
 * @param job id of the upload job
 */
export function createPlannedRecords(
  store: RecordStore,
  organization: Organization,
  job: string,
  clock: Clock,
): ItemRecords {
  const stored = new Map<string, StoredRecord>();
  const keyOf = (key: RecordKey): RecordKey => planKeyOf(organization.id, job, key);
  return {
    read: async (keys) => {
      const found = await store.read([...keys, ...keys.map(keyOf)]);
      const planned = keys.map((key) => found.get(keyText(keyOf(key)))).filter((record) => record !== undefined);
      for (const key of keys) {
        const record = found.get(keyText(key));
        if (record) stored.set(keyText(key), record);
      }
      return new Map(planned.map((record) => [keyText(record), record]));
    },
    keyOf,
    baseOf: (key) => stored.get(keyText(key)),
    ofItem: (_id, item) => ({ ...item }),
    common: () => ({ [TIME_TO_LIVE]: Math.ceil(clock() / 1000) + PLANNED_SECONDS }),
    layers: () => ({}),
    changes: rowChangesOf,
    withEvent: () => undefined,
  };
}
