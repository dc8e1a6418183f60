import type { RuntimeWith } from "../aws/runtime.ts";
import { isoTime } from "../clock.ts";
import { NotFoundError } from "../errors.ts";
import type { Organization } from "../organizations/organization.ts";
import { keyText } from "../store/batch-get.ts";
import { optimisticWriteOne, type WriteTarget } from "../store/optimistic-write.ts";
import { createRecordStore } from "../store/record-store.ts";
import type { StoredRecord } from "../store/versioned-record.ts";
import { layersAfter, writeWithEvent } from "./kept-layers.ts";
import { assertVisible } from "./read-work-item.ts";
import { eventKey, itemKey, workItemEventFrom } from "./work-item-record.ts";

/**
 * Soft-deletes an item's event. One that is already deleted does not change.
 * @throws NotFoundError if the item is missing or deleted, or never had such an event; StoreBusyError
 */
export function createDeleteWorkItemEvent(runtime: RuntimeWith<"workItems">) {
  const { clock } = runtime;
  const records = createRecordStore(runtime);
  /** @param deadline milliseconds since the epoch after which no further attempt is made */
  return async (organization: Organization, itemId: string, eventId: string, deadline: number): Promise<void> => {
    const item = itemKey(organization.id, itemId);
    const key = eventKey(organization.id, itemId, eventId);
    let owner: StoredRecord | undefined;
    const target: WriteTarget<null> = {
      key,
      plan: (stored) => {
        assertVisible(owner);
        const event = workItemEventFrom(stored);
        if (event === null) throw new NotFoundError("work item event not found");
        if (event.deleted_at !== null) return { set: null, result: null };
        const next = { ...event, deleted_at: isoTime(clock()) };
        const set = { ...next, ...layersAfter(stored, event, next, clock()) };
        return { set, together: writeWithEvent(owner, clock()), result: null };
      },
    };
    const read = async () => {
      const found = await records.read([item, key]);
      owner = found.get(keyText(item));
      return found;
    };
    await optimisticWriteOne(records, target, { clock, deadline, read });
  };
}
