import { isoTime } from "../clock.ts";
import type { Problem } from "../errors.ts";
import { optimisticWrite, type OptimisticWriteOptions } from "../store/optimistic-write.ts";
import { keyText } from "../store/batch-get.ts";
import { createRecordStore } from "../store/record-store.ts";
import type { StoredRecord } from "../store/versioned-record.ts";
import type { Organization } from "../organizations/organization.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { traceOf } from "../error-trace.ts";
import { hasLayers } from "./undo/undo.ts";
import { findKnownJobs, appliedRowsIn, type RowSource } from "./applied-rows.ts";
import type { FailedWrite, ItemInput, ItemResult, PendingInput } from "./pending-input.ts";
import { createPlannedRecords, createStoredRecords } from "./planned-records.ts";
import { ITEM_SORT_KEY } from "./work-item-record.ts";
import {
  groupByItem,
  groupEvents,
  type ItemGroup,
  targetOfEvent,
  targetOfItem,
  type WriteContext,
} from "./write-targets.ts";

interface ApplyOptions {
  /** Writes nothing at all. Uploads have their own dry run, `source.dryRun`. */
  readonly dryRun?: boolean;
  /** Time after which no attempt is made, in milliseconds since the epoch. */
  readonly deadline: number;
  /** Set if the inputs are rows of an upload. */
  readonly source?: RowSource;
  /** Called between each read and its writes; throws to prevent the writes. @param isRetry as in `optimisticWrite` */
  readonly guard?: (isRetry: boolean) => Promise<void>;
}

/**
 * Creates, updates or restores work items by external_id, for the batch endpoint and CSV files, including dry runs.
 * A hundred inputs take one BatchGetItem, and one BatchExecuteStatement for every 25 items that change. Items are
 * written before their events. If an event fails, its item's outcome is an error; a repeated call applies the event.
 * The results are in the order of the inputs. An input whose plan throws or whose stored item is damaged gets a permanent
 * error, which is logged; the others are applied.
 * @throws StoreBusyError if nothing could be read, and errors of `guard`
 */
export function createApplyWorkItems(runtime: RuntimeWith<"workItems">) {
  const { clock, log } = runtime;
  const store = createRecordStore(runtime);
  const now = () => isoTime(clock());

  return async (
    organization: Organization,
    inputs: readonly ItemInput[],
    { source, dryRun, deadline, guard }: ApplyOptions,
  ): Promise<ItemResult[]> => {
    const { pending, items } = groupByItem(organization, inputs);
    const records = source?.dryRun
      ? createPlannedRecords(store, organization, source.job, clock)
      : createStoredRecords(store, organization, clock, source && { id: source.job, createdAt: source.createdAt });
    const withEvents = new Set<number>();
    const hasEvents = pending.some(({ input }) => (input.events?.length ?? 0) > 0);
    /**
     * Reads items and the events of their inputs. Rows' items are read before the events, since only the events remember a
     * row that didn't change its item. If the item changes in between, its conditional write fails and both are read again.
     */
    const readGroups = async (groups: readonly ItemGroup[]): Promise<ReadonlyMap<string, StoredRecord>> => {
      const itemKeys = groups.map(({ key }) => key);
      if (!hasEvents) return records.read(itemKeys);
      const eventsOfGroups = groupEvents(
        organization,
        groups.flatMap((group) => group.inputs),
      );
      const eventKeys = eventsOfGroups.map(({ key }) => key);
      if (!source) return records.read([...itemKeys, ...eventKeys]);
      const stored = await records.read(itemKeys);
      const events = await records.read(eventKeys);
      for (const event of events.values()) for (const row of appliedRowsIn(event, source.job)) withEvents.add(row);
      return new Map([...stored, ...events]);
    };
    const found = await readGroups(items);
    const window = source && {
      ...(await findKnownJobs(source, found.values())),
      firstRow: source.firstRow,
      withEvents,
    };
    const writeOptions: OptimisticWriteOptions = { dryRun, deadline, guard, clock, prefetched: found };
    const report = (cause: unknown): void => {
      log.error("an input cannot be planned", { job: source?.job, ...traceOf(cause) });
    };
    const owners = new Map<string, StoredRecord>();
    const context: WriteContext = { records, owners, window, now, report };
    const failAll = (group: Iterable<PendingInput>, failed: FailedWrite, path: Problem["path"]): void => {
      if (failed.cause !== undefined) report(failed.cause);
      for (const input of group) input.failWrite(path, failed);
    };

    const writtenItems = await optimisticWrite(
      store,
      items.map((group) => targetOfItem(group, context)),
      {
        ...writeOptions,
        ...(window && {
          read: (keys) => {
            const texts = new Set(keys.map(keyText));
            return readGroups(items.filter(({ key }) => texts.has(keyText(records.keyOf(key)))));
          },
        }),
      },
    );
    for (const [index, written] of writtenItems.entries()) {
      if ("error" in written) failAll(items[index]!.inputs, written, []);
      else for (const { pending: input, ...effect } of written.result) input.takeItem(effect);
      const owner = hasEvents && "record" in written ? written.record : undefined;
      if (owner && hasLayers(owner)) owners.set(owner.pk, owner);
    }

    const events = groupEvents(
      organization,
      pending.filter(({ hasFailed }) => !hasFailed),
    );
    const writtenEvents = await optimisticWrite(
      store,
      events.map((group) => targetOfEvent(group, context)),
      {
        ...writeOptions,
        // An event whose condition failed may be written together with its item, which may have changed.
        read: async (keys) => {
          const ownerKeys = keys.filter(({ pk }) => owners.has(pk)).map(({ pk }) => ({ pk, sk: ITEM_SORT_KEY }));
          const read = await store.read([...keys, ...ownerKeys]);
          for (const { pk, sk } of ownerKeys) owners.set(pk, read.get(keyText({ pk, sk })) ?? owners.get(pk)!);
          return read;
        },
      },
    );
    for (const [index, written] of writtenEvents.entries()) {
      if ("error" in written) failAll(events[index]!.inputs.keys(), written, ["events"]);
      else for (const { pending: input, outcome, recognized } of written.result) input.takeEvent(outcome, recognized);
    }
    return pending.map(({ result }) => result);
  };
}
/** Applies inputs. */
export type ApplyWorkItems = ReturnType<typeof createApplyWorkItems>;
