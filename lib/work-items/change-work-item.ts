import { isoTime } from "../clock.ts";
import { keyText } from "../dynamodb/batch-get.ts";
import { optimisticWriteOne, type WriteTarget } from "../dynamodb/optimistic-write.ts";
import { createRecordStore } from "../dynamodb/record-store.ts";
import type { StoredRecord } from "../dynamodb/versioned-record.ts";
import { InvalidInputError, NotFoundError } from "../errors.ts";
import type { Organization } from "../organizations/organization.ts";
import { under } from "../problem.ts";
import type { RuntimeWith } from "../runtime/runtime.ts";
import { planApply } from "./plan-apply.ts";
import { assertVisible, createReadItemPage, type ItemWithEvents } from "./read-work-item.ts";
import type { Changes, WorkItem } from "./work-item.ts";
import { attributesOf, itemKey, workItemFrom } from "./work-item-record.ts";

/** Options of changing an item. */
export interface ChangeOptions {
  /** Throws if the caller expects another version of the item. @default every version is accepted */
  readonly assertVersion?: ((version: number) => void) | undefined;
  /** Milliseconds since the epoch after which no further attempt is made. */
  readonly deadline: number;
}

const mapOf = (record: StoredRecord | undefined): Map<string, StoredRecord> =>
  new Map(record ? [[keyText(record), record]] : []);

/**
 * Merges changes into an item. Its events are read once, with the item; retries read only the item.
 * @throws NotFoundError, PreconditionFailedError, InvalidInputError (too large after the merge), StoreBusyError
 */
export const createUpdateWorkItem = (runtime: RuntimeWith<"workItems">) => {
  const { clock } = runtime;
  const records = createRecordStore(runtime);
  const readItemPage = createReadItemPage(runtime);
  return async (
    organization: Organization,
    id: string,
    changes: Changes,
    { assertVersion, deadline }: ChangeOptions,
  ): Promise<ItemWithEvents> => {
    const { record: first, events, eventsAfter } = await readItemPage(organization.id, id);
    const key = itemKey(organization.id, id);
    const target: WriteTarget<WorkItem> = {
      key,
      plan: (stored) => {
        const current = assertVisible(stored);
        assertVersion?.(stored?.version ?? 0);
        const plan = planApply(current, current.external_id, changes, isoTime(clock()));
        if (plan.outcome === "error") throw new InvalidInputError([under("work_item", plan.error)]);
        const isUnchanged = plan.outcome === "unchanged";
        return { set: isUnchanged ? null : attributesOf(organization, id, plan.next), result: plan.next };
      },
    };
    const { result, record } = await optimisticWriteOne(records, target, {
      clock,
      deadline,
      known: mapOf(first),
      read: async () => mapOf(await records.readOne(key)),
    });
    return { id, item: result, version: record?.version ?? 0, events, eventsAfter };
  };
};

/**
 * Soft-deletes an item. An item that is already deleted does not change, and its version is not checked.
 * @throws NotFoundError if no item ever had the id; PreconditionFailedError, StoreBusyError
 */
export const createDeleteWorkItem = (runtime: RuntimeWith<"workItems">) => {
  const { clock } = runtime;
  const records = createRecordStore(runtime);
  return async (organization: Organization, id: string, { assertVersion, deadline }: ChangeOptions): Promise<void> => {
    const key = itemKey(organization.id, id);
    const target: WriteTarget<null> = {
      key,
      plan: (stored) => {
        const item = workItemFrom(stored);
        if (item === null || stored === undefined) throw new NotFoundError("work item not found");
        if (item.deleted_at !== null) return { set: null, result: null };
        assertVersion?.(stored.version);
        const now = isoTime(clock());
        return { set: attributesOf(organization, id, { ...item, deleted_at: now, updated_at: now }), result: null };
      },
    };
    const read = async () => mapOf(await records.readOne(key));
    await optimisticWriteOne(records, target, { clock, deadline, read });
  };
};

/** Sets an item's evaluation result, from 0 to 1; null removes it. @throws NotFoundError, StoreBusyError */
export const createRecordQaScore = (runtime: RuntimeWith<"workItems">) => {
  const { clock } = runtime;
  const records = createRecordStore(runtime);
  return async (organization: string, id: string, qaScore: number | null, deadline: number): Promise<void> => {
    const key = itemKey(organization, id);
    const target: WriteTarget<null> = {
      key,
      plan: (stored) => {
        const isSame = assertVisible(stored).qa_score === qaScore;
        return { set: isSame ? null : { qa_score: qaScore, updated_at: isoTime(clock()) }, result: null };
      },
    };
    const read = async () => mapOf(await records.readOne(key));
    await optimisticWriteOne(records, target, { clock, deadline, read });
  };
};
