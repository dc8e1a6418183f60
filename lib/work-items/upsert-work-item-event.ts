import { isoTime } from "../clock.ts";
import { keyText } from "../store/batch-get.ts";
import { optimisticWriteOne, type WriteTarget } from "../store/optimistic-write.ts";
import { createRecordStore } from "../store/record-store.ts";
import type { StoredRecord } from "../store/versioned-record.ts";
import type { Organization } from "../organizations/organization.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { layersAfter, writeWithEvent } from "./kept-layers.ts";
import { type EventPlan, planEvent } from "./plan-apply.ts";
import { assertVisible } from "./read-work-item.ts";
import type { EventInput } from "./work-item.ts";
import { eventKeyOf, itemKey, type KeyedEvent, workItemEventFrom } from "./work-item-record.ts";

/** Creates or updates an item's event. @throws NotFoundError if the item is missing or deleted; StoreBusyError */
export function createUpsertWorkItemEvent(runtime: RuntimeWith<"workItems">) {
  const { clock } = runtime;
  const records = createRecordStore(runtime);
  /** @param deadline milliseconds since the epoch after which no further attempt is made */
  return async (
    organization: Organization,
    itemId: string,
    input: EventInput,
    deadline: number,
  ): Promise<{ readonly created: boolean; readonly event: KeyedEvent }> => {
    const item = itemKey(organization.id, itemId);
    const key = eventKeyOf(organization.id, itemId, input.external_id);
    let owner: StoredRecord | undefined;
    const target: WriteTarget<EventPlan> = {
      key,
      plan: (stored) => {
        assertVisible(owner);
        const before = workItemEventFrom(stored);
        const plan = planEvent(before, [input], isoTime(clock()));
        if (plan.outcome === "unchanged") return { set: null, result: plan };
        const set = { ...plan.next, ...layersAfter(stored, before, plan.next, clock()) };
        return { set, together: writeWithEvent(owner, clock()), result: plan };
      },
    };
    const read = async () => {
      const found = await records.read([item, key]);
      owner = found.get(keyText(item));
      return found;
    };
    const { result } = await optimisticWriteOne(records, target, { clock, deadline, read });
    return { created: result.outcome === "created", event: { ...key, ...result.next } };
  };
}
