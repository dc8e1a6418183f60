import { type Clock, isoTime } from "../clock.ts";
import { keyText } from "../store/batch-get.ts";
import { optimisticWrite, optimisticWriteOne, type WriteResult, type WriteTarget } from "../store/optimistic-write.ts";
import { createRecordStore } from "../store/record-store.ts";
import type { StoredRecord } from "../store/versioned-record.ts";
import { InvalidInputError, NotFoundError, under } from "../errors.ts";
import type { Organization } from "../organizations/organization.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { layersAfter } from "./undo/undo.ts";
import { traceOf } from "../error-trace.ts";
import { planApply } from "./plan-apply.ts";
import { assertVisible, createReadItemPage, type ItemWithEvents } from "./read-work-item.ts";
import type { Changes, WorkItem } from "./work-item.ts";
import { attributesOf, itemKey, shownVersionOf, workItemFrom } from "./work-item-record.ts";

export interface ChangeOptions {
  /** Throws if the caller expects another version of the item. @default accepts every version */
  readonly assertVersion?: ((version: number) => void) | undefined;
  /** Time after which no attempt is made, in milliseconds since the epoch. */
  readonly deadline: number;
}

/** Makes the function that changes one item by a plan. It doesn't read the item's events. */
function createChangeItem(runtime: RuntimeWith<"workItems">) {
  const records = createRecordStore(runtime);
  const mapOf = (record: StoredRecord | undefined) => new Map(record ? [[keyText(record), record]] : []);
  /** @param read the record that was just read. @default the item is read first */
  return <R>(target: WriteTarget<R>, deadline: number, read?: { readonly record: StoredRecord | undefined }) =>
    optimisticWriteOne(records, target, {
      clock: runtime.clock,
      deadline,
      prefetched: read && mapOf(read.record),
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
  ): Promise<ItemWithEvents & { readonly outcome: "updated" | "unchanged" }> => {
    const { record: first, events, eventsAfter } = await readItemPage(organization.id, id);
    const target: WriteTarget<{ readonly item: WorkItem; readonly outcome: "updated" | "unchanged" }> = {
      key: itemKey(organization.id, id),
      plan: (stored) => {
        const current = assertVisible(stored);
        assertVersion?.(shownVersionOf(stored));
        const plan = planApply(current, current.external_id, changes, isoTime(runtime.clock()));
        if (plan.outcome === "error") throw new InvalidInputError([under("work_item", plan.error)]);
        const { next: item } = plan;
        if (plan.outcome === "unchanged") return { set: null, result: { item, outcome: "unchanged" } };
        const layers = layersAfter(stored, current, item, runtime.clock());
        const set = { ...attributesOf(organization, id, item), ...layers };
        return { set, result: { item, outcome: "updated" } };
      },
    };
    const { result, record } = await changeItem(target, deadline, { record: first });
    return { id, ...result, version: shownVersionOf(record), events, eventsAfter };
  };
}

/** The result of deleting an item: `unchanged` if it was deleted before. */
export interface Deletion {
  readonly status: "deleted" | "unchanged" | "not_found" | "error";
  /** Undefined if it isn't known. */
  readonly external_id?: string;
  /** Set if the status is `error`. */
  readonly error?: string;
  /** Whether a later call would fail too. */
  readonly permanent?: boolean;
}

/** The write that soft-deletes an item. If it is already deleted, its version isn't checked. */
function deletionOf(
  organization: Organization,
  id: string,
  clock: Clock,
  assertVersion?: ChangeOptions["assertVersion"],
): WriteTarget<Deletion> {
  return {
    key: itemKey(organization.id, id),
    plan: (stored) => {
      const item = workItemFrom(stored);
      if (item === null || stored === undefined) return { set: null, result: { status: "not_found" } };
      const { external_id } = item;
      if (item.deleted_at !== null) return { set: null, result: { status: "unchanged", external_id } };
      assertVersion?.(shownVersionOf(stored));
      const now = isoTime(clock());
      const next = { ...item, deleted_at: now, updated_at: now };
      const set = { ...attributesOf(organization, id, next), ...layersAfter(stored, item, next, clock()) };
      return { set, result: { status: "deleted", external_id } };
    },
  };
}

/**
 * Soft-deletes an item.
 * @throws NotFoundError if no item ever had the id; PreconditionFailedError, StoreBusyError
 */
export function createDeleteWorkItem(runtime: RuntimeWith<"workItems">) {
  const changeItem = createChangeItem(runtime);
  return async (organization: Organization, id: string, { assertVersion, deadline }: ChangeOptions) => {
    const target = deletionOf(organization, id, runtime.clock, assertVersion);
    const { result } = await changeItem(target, deadline);
    if (result.status === "not_found") throw new NotFoundError("work item not found");
    return result;
  };
}

/**
 * Soft-deletes items, with distinct ids: one BatchGetItem, and one BatchExecuteStatement for every 25 of them.
 * @returns a function that returns the results by the items' ids, and throws StoreBusyError if nothing could be read
 */
export function createDeleteWorkItems(runtime: RuntimeWith<"workItems">) {
  const { clock, log } = runtime;
  const records = createRecordStore(runtime);
  return async (
    organization: Organization,
    ids: readonly string[],
    options: { readonly dryRun: boolean; readonly deadline: number },
  ): Promise<ReadonlyMap<string, Deletion>> => {
    const targets = ids.map((id) => deletionOf(organization, id, clock));
    const written = await optimisticWrite(records, targets, { ...options, clock });
    const deletionIn = (result: WriteResult<Deletion>): Deletion => {
      if (!("error" in result)) return result.result;
      const { error, permanent, cause } = result;
      if (cause !== undefined) log.error("a work item cannot be deleted", traceOf(cause));
      return { status: "error", error, permanent };
    };
    return new Map(written.map((result, index) => [ids[index]!, deletionIn(result)]));
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
