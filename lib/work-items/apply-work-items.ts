import { isoTime } from "../clock.ts";
import { optimisticWrite, type OptimisticWriteOptions } from "../store/optimistic-write.ts";
import { keyText } from "../store/batch-get.ts";
import { createRecordStore } from "../store/record-store.ts";
import type { RecordKey } from "../store/versioned-record.ts";
import type { Organization } from "../organizations/organization.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { traceOf } from "../trace.ts";
import { type ApplyInput, type ApplyResult, CANNOT_BE_APPLIED } from "./applied-input.ts";
import { findApplied, readerOfItems, type RowSource } from "./applied-rows.ts";
import {
  groupByItem,
  groupEvents,
  type Report,
  targetOfEvent,
  targetOfGroup,
  type WriteContext,
} from "./apply-targets.ts";
import { createPlannedRecords, createStoredRecords } from "./planned-records.ts";
import { ITEM_SORT_KEY } from "./work-item-record.ts";

interface ApplyOptions {
  /** Writes nothing at all. Rows of an upload have a dry run of their own. */
  readonly dryRun?: boolean;
  /** Milliseconds since the epoch after which no further attempt is made. */
  readonly deadline: number;
  /** Set if the inputs are rows of an upload. */
  readonly source?: RowSource;
  /** Skips the first read of the items. Items that exist nevertheless fail their condition, and are then read. */
  readonly assumeNew?: boolean;
  /** Called between every read and the writes based on it; throws to prevent the writes. @param isRetry as in `optimisticWrite` */
  readonly guard?: (isRetry: boolean) => Promise<void>;
}

/**
 * Creates, updates or restores work items by external_id, for the batch endpoint and CSV files, including dry runs.
 * A hundred inputs take one BatchGetItem, and one BatchExecuteStatement for every 25 items that change. Items are
 * written before their events. If an event fails, its item's outcome is an error; a repeated call applies the event.
 * The results are in the order of the inputs. If an input makes its plan throw, or its stored item is damaged, this is its
 * own permanent error, and is logged.
 * @throws StoreBusyError if nothing could be read, and errors of `guard`
 */
export function createApplyWorkItems(runtime: RuntimeWith<"workItems">) {
  const { clock, log } = runtime;
  const store = createRecordStore(runtime);
  const now = () => isoTime(clock());

  return async (
    organization: Organization,
    inputs: readonly ApplyInput[],
    { source, assumeNew = false, dryRun, deadline, guard }: ApplyOptions,
  ): Promise<ApplyResult[]> => {
    const { members, groups } = groupByItem(organization, inputs);
    const allEvents = groupEvents(organization, members);
    const records = source?.dryRun
      ? createPlannedRecords(store, organization, source.job, clock)
      : createStoredRecords(store, organization);
    const readAll = async (keys: readonly RecordKey[]) => (assumeNew ? [] : [...(await records.read(keys))]);
    const itemKeys = groups.map(({ key }) => key);
    const keysOfEvents = allEvents.map(({ key }) => key);
    // Of rows, events are read after the items, as in `readerOfItems`.
    const known = new Map(
      source
        ? [...(await readAll(itemKeys)), ...(await readAll(keysOfEvents))]
        : await readAll([...itemKeys, ...keysOfEvents]),
    );
    const eventKeys = keysOfEvents.map(records.keyOf);
    const itemOfEvent = ({ pk }: RecordKey): string => keyText(records.keyOf({ pk, sk: ITEM_SORT_KEY }));
    const eventsOfItems = Map.groupBy(eventKeys, (_, place) => itemOfEvent(keysOfEvents[place]!));
    const applied = source && (await findApplied(source, known, eventKeys));
    const writeOptions: OptimisticWriteOptions = { dryRun, deadline, guard, clock, known };
    const report: Report = (cause) => {
      log.error("an input cannot be planned", { job: source?.job, ...traceOf(cause) });
    };
    const context: WriteContext = { records, applied, now, report };

    const items = await optimisticWrite(
      store,
      groups.map((group) => targetOfGroup(group, context)),
      {
        ...writeOptions,
        ...(applied && {
          read: readerOfItems(store, applied, (item) => eventsOfItems.get(keyText(item)) ?? []),
        }),
      },
    );
    for (const [position, group] of groups.entries()) {
      const written = items[position]!;
      if ("error" in written) {
        if (written.cause !== undefined) report(written.cause);
        for (const member of group.members) member.failWrite([], written);
      } else {
        for (const [at, member] of group.members.entries()) member.setPlan(written.result[at]!);
      }
    }

    const events = groupEvents(
      organization,
      members.filter((member) => !member.hasFailed),
    );
    const eventResults = await optimisticWrite(
      store,
      events.map((event) => targetOfEvent(event, context)),
      writeOptions,
    );
    for (const [position, event] of events.entries()) {
      const written = eventResults[position]!;
      if ("error" in written) {
        if (written.cause !== undefined) report(written.cause);
        for (const member of event.members.keys()) member.failWrite(["events"], written);
      } else {
        for (const member of written.result.changedBy) member.setEventChanged();
        for (const member of written.result.failed) member.fail(CANNOT_BE_APPLIED);
      }
    }
    return members.map(({ result }) => result);
  };
}
/** Applies inputs. */
export type ApplyWorkItems = ReturnType<typeof createApplyWorkItems>;
