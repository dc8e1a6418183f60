import { isoTime } from "../clock.ts";
import { keyText } from "../store/batch-get.ts";
import { optimisticWriteOne, type WriteTarget } from "../store/optimistic-write.ts";
import { createRecordStore } from "../store/record-store.ts";
import type { StoredRecord } from "../store/versioned-record.ts";
import { InvalidInputError, NotFoundError, under } from "../errors.ts";
import type { Organization } from "../organizations/organization.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { layersAfter } from "./kept-layers.ts";
import { planApply } from "./plan-apply.ts";
import { assertVisible, createReadItemPage, type ItemWithEvents } from "./read-work-item.ts";
import type { Changes, WorkItem } from "./work-item.ts";
import { attributesOf, itemKey, workItemFrom } from "./work-item-record.ts";

export interface ChangeOptions {
  /** Throws if the caller expects another version of the item. @default every version is accepted */
  readonly assertVersion?: ((version: number) => void) | undefined;
  /** Milliseconds since the epoch after which no further attempt is made. */
  readonly deadline: number;
}

/** Makes the function that changes one item by a plan. It reads the item alone, and not its events. */
function createChangeItem(runtime: RuntimeWith<"workItems">) {
  const records = createRecordStore(runtime);
  const mapOf = (record: StoredRecord | undefined) => new Map(record ? [[keyText(record), record]] : []);
  /** @param known what was just read; without it the item is read first */
  return <R>(target: WriteTarget<R>, deadline: number, known?: { readonly record: StoredRecord | undefined }) =>
    optimisticWriteOne(records, target, {
      clock: runtime.clock,
      deadline,
      known: known && mapOf(known.record),
      read: async () => mapOf(await records.readOne(target.key)),
    });
}

/**
 * Merges changes into an item. Its events are read once, with the item; retries read only the item.
 * @throws NotFoundError, PreconditionFailedError, InvalidInputError (too large after the merge), StoreBusyError
 */
export function createUpdateWorkItem(runtime: RuntimeWith<"workItems">) {
  const changeItem = createChangeItem(runtime);
  const readItemPage = createReadItemPage(runtime);
  return async (
    organization: Organization,
    id: string,
    changes: Changes,
    { assertVersion, deadline }: ChangeOptions,
  ): Promise<ItemWithEvents> => {
    const { record: first, events, eventsAfter } = await readItemPage(organization.id, id);
    const target: WriteTarget<WorkItem> = {
      key: itemKey(organization.id, id),
      plan: (stored) => {
        const current = assertVisible(stored);
        assertVersion?.(stored?.version ?? 0);
        const plan = planApply(current, current.external_id, changes, isoTime(runtime.clock()));
        if (plan.outcome === "error") throw new InvalidInputError([under("work_item", plan.error)]);
        if (plan.outcome === "unchanged") return { set: null, result: plan.next };
        const layers = layersAfter(stored, current, plan.next, runtime.clock());
        return { set: { ...attributesOf(organization, id, plan.next), ...layers }, result: plan.next };
      },
    };
    const { result, record } = await changeItem(target, deadline, { record: first });
    return { id, item: result, version: record?.version ?? 0, events, eventsAfter };
  };
}

/**
 * Soft-deletes an item. An item that is already deleted does not change, and its version is not checked.
 * @throws NotFoundError if no item ever had the id; PreconditionFailedError, StoreBusyError
 */
export function createDeleteWorkItem(runtime: RuntimeWith<"workItems">) {
  const changeItem = createChangeItem(runtime);
  return async (organization: Organization, id: string, { assertVersion, deadline }: ChangeOptions): Promise<void> => {
    const plan = (stored: StoredRecord | undefined) => {
      const item = workItemFrom(stored);
      if (item === null || stored === undefined) throw new NotFoundError("work item not found");
      if (item.deleted_at !== null) return { set: null, result: null };
      assertVersion?.(stored.version);
      const now = isoTime(runtime.clock());
      const next = { ...item, deleted_at: now, updated_at: now };
      const layers = layersAfter(stored, item, next, runtime.clock());
      return { set: { ...attributesOf(organization, id, next), ...layers }, result: null };
    };
    await changeItem({ key: itemKey(organization.id, id), plan }, deadline);
  };
}

/** Sets an item's evaluation result, from 0 to 1; null removes it. @throws NotFoundError, StoreBusyError */
export function createRecordQaScore(runtime: RuntimeWith<"workItems">) {
  const changeItem = createChangeItem(runtime);
  return async (organization: string, id: string, qaScore: number | null, deadline: number): Promise<void> => {
    const plan = (stored: StoredRecord | undefined) => {
      const isSame = assertVisible(stored).qa_score === qaScore;
      return { set: isSame ? null : { qa_score: qaScore, updated_at: isoTime(runtime.clock()) }, result: null };
    };
    await changeItem({ key: itemKey(organization, id), plan }, deadline);
  };
}
