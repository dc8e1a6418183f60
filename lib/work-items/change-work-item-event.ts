import { isoTime } from "../clock.ts";
import { NotFoundError } from "../errors.ts";
import { keyText } from "../store/batch-get.ts";
import { optimisticWriteOne } from "../store/optimistic-write.ts";
import { createRecordStore } from "../store/record-store.ts";
import type { RecordKey, StoredRecord } from "../store/versioned-record.ts";
import type { Organization } from "../organizations/organization.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { layersAfter, writeWithEvent } from "./undo/undo.ts";
import { planEvent } from "./plan-apply.ts";
import { assertVisible } from "./read-work-item.ts";
import type { EventInput, WorkItemEvent } from "./work-item.ts";
import { eventKey, eventKeyOf, itemKey, type KeyedEvent, workItemEventFrom } from "./work-item-record.ts";

/** Makes the function that changes one event by a plan. The event's item is read too, and must not be deleted. */
function createChangeEvent(runtime: RuntimeWith<"workItems">) {
  const { clock } = runtime;
  const records = createRecordStore(runtime);
  /** @param plan makes the event's next state from the stored one; the same object if nothing changes */
  return async <R extends { readonly next: WorkItemEvent }>(
    item: RecordKey,
    key: RecordKey,
    plan: (before: WorkItemEvent | null, now: string) => R,
    deadline: number,
  ): Promise<R> => {
    let owner: StoredRecord | undefined;
    const { result } = await optimisticWriteOne<R>(
      records,
      {
        key,
        plan: (stored) => {
          assertVisible(owner);
          const before = workItemEventFrom(stored);
          const planned = plan(before, isoTime(clock()));
          const { next } = planned;
          if (next === before) return { set: null, result: planned };
          const set = { ...next, ...layersAfter(stored, before, next, clock()) };
          return { set, together: writeWithEvent(owner, clock()), result: planned };
        },
      },
      {
        clock,
        deadline,
        read: async () => {
          const found = await records.read([item, key]);
          owner = found.get(keyText(item));
          return found;
        },
      },
    );
    return result;
  };
}

/** Creates or updates an item's event. @throws NotFoundError if the item is missing or deleted; StoreBusyError */
export function createUpsertWorkItemEvent(runtime: RuntimeWith<"workItems">) {
  const changeEvent = createChangeEvent(runtime);
  /** @param deadline time after which no attempt is made, in milliseconds since the epoch */
  return async (organization: Organization, itemId: string, input: EventInput, deadline: number) => {
    const key = eventKeyOf(organization.id, itemId, input.external_id);
    const { outcome, next } = await changeEvent(
      itemKey(organization.id, itemId),
      key,
      (before, now) => planEvent(before, [input], now),
      deadline,
    );
    const event: KeyedEvent = { ...key, ...next };
    return { outcome, event };
  };
}

/**
 * Soft-deletes an item's event, unless it is already deleted.
 * @throws NotFoundError if the item is missing or deleted, or never had the event; StoreBusyError
 */
export function createDeleteWorkItemEvent(runtime: RuntimeWith<"workItems">) {
  const changeEvent = createChangeEvent(runtime);
  /** @param deadline time after which no attempt is made, in milliseconds since the epoch */
  return async (organization: Organization, itemId: string, eventId: string, deadline: number) => {
    const { outcome } = await changeEvent(
      itemKey(organization.id, itemId),
      eventKey(organization.id, itemId, eventId),
      (event, now) => {
        if (event === null) throw new NotFoundError("work item event not found");
        return event.deleted_at === null
          ? { next: { ...event, deleted_at: now }, outcome: "updated" as const }
          : { next: event, outcome: "unchanged" as const };
      },
      deadline,
    );
    return outcome;
  };
}
