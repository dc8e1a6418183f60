import type { WriteTarget } from "../store/optimistic-write.ts";
import type { RecordKey, StoredRecord } from "../store/versioned-record.ts";
import type { Organization } from "../organizations/organization.ts";
import { NO_CHANGES } from "./changed-fields.ts";
import { CANNOT_BE_APPLIED, type ItemEffect, type ItemInput, PendingInput } from "./pending-input.ts";
import { type ItemPlan, planApply, planEvent, TOO_LARGE_AFTER_MERGE } from "./plan-apply.ts";
import type { ItemRecords } from "./planned-records.ts";
import { type RowWindow, AppliedRows, type RowOutcome } from "./applied-rows.ts";
import type { EventInput, WorkItem } from "./work-item.ts";
import { eventKeyOf, itemIdOf, itemKeyOf, workItemEventFrom, workItemFrom } from "./work-item-record.ts";

/** What all writes of a call have in common. */
export interface WriteContext {
  readonly records: ItemRecords;
  /** Records of items when their events are written, by partition key. Those without layers may be left out. */
  readonly owners: ReadonlyMap<string, StoredRecord>;
  /** Set if the inputs are rows of an upload. */
  readonly window: RowWindow | undefined;
  readonly now: () => string;
  /** Reports what a plan has thrown, because of a defect or a damaged record. */
  readonly report: (cause: unknown) => void;
}

/** An item, and its inputs in order. */
export interface ItemGroup {
  readonly id: string;
  readonly key: RecordKey;
  readonly inputs: PendingInput[];
}

/** The inputs in order, and grouped by their items. */
export function groupByItem(organization: Organization, inputs: readonly ItemInput[]) {
  const groups = new Map<string, ItemGroup>();
  const pending = inputs.map((given) => {
    const key = itemKeyOf(organization.id, given.input.external_id);
    const group = groups.get(key.pk) ?? { id: itemIdOf(key), key, inputs: [] };
    const input = new PendingInput(group.id, given);
    group.inputs.push(input);
    groups.set(key.pk, group);
    return input;
  });
  return { pending, items: [...groups.values()] };
}

/** The plan of a row that the job has applied before. @param plan plans the row again, to find its error */
function planAgain(outcome: RowOutcome, item: WorkItem, plan: () => ItemPlan): ItemPlan {
  if (outcome !== "error") return { outcome, next: item };
  const again = plan();
  return again.outcome === "error" ? again : { outcome, error: TOO_LARGE_AFTER_MERGE };
}

/** An input and what it does to its item. */
interface InputEffect extends ItemEffect {
  readonly pending: PendingInput;
}

/** Plans the inputs for an item, each based on the result of the previous one. */
function planItem(
  { inputs }: ItemGroup,
  stored: StoredRecord | undefined,
  before: WorkItem | null,
  { records, window, report, ...context }: WriteContext,
) {
  const now = context.now();
  const applied = window && new AppliedRows(stored, window);
  const effects: InputEffect[] = [];
  let current = before;
  for (const pending of inputs) {
    const { input, row } = pending;
    const planInput = (): ItemPlan => {
      try {
        return planApply(current, input.external_id, input, now);
      } catch (cause) {
        report(cause);
        return { outcome: "error", error: CANNOT_BE_APPLIED };
      }
    };
    // If the row didn't change the item, only its events remember it.
    const outcome = applied?.outcomeOf(row) ?? (window?.withEvents.has(row) ? "unchanged" : undefined);
    if (before !== null && outcome !== undefined) {
      const plan = planAgain(outcome, before, planInput);
      effects.push({ pending, plan, changes: { fields: applied!.changedBy(row) }, recognized: true });
      continue;
    }
    const plan = planInput();
    const isChange = plan.outcome === "updated" || plan.outcome === "restored";
    const changes = isChange && current ? records.changes(current, plan.next) : NO_CHANGES;
    if (plan.outcome !== "error") current = plan.next;
    effects.push({ pending, plan, changes, recognized: false });
    applied?.add(row, plan.outcome, changes.fields);
  }
  return { effects, next: current === before ? null : current, applied };
}

/** The write of an item. Its result is the effect of each input. */
export function targetOfItem(group: ItemGroup, context: WriteContext): WriteTarget<InputEffect[]> {
  const { records } = context;
  return {
    key: records.keyOf(group.key),
    plan: (stored) => {
      const before = workItemFrom(stored ?? records.baseOf(group.key));
      const { effects, next, applied } = planItem(group, stored, before, context);
      if (next === null) return { set: null, result: effects };
      const set = Object.assign(
        records.ofItem(group.id, next),
        records.common(),
        applied?.attributes(),
        records.layers(stored, before, next),
      );
      return { set, result: effects };
    },
  };
}

/** An event, and its inputs in order, by the work item inputs that contain them. */
export interface EventGroup {
  readonly key: RecordKey;
  readonly inputs: Map<PendingInput, EventInput[]>;
}

/** The events of inputs, grouped by their records. */
export function groupEvents(organization: Organization, inputs: readonly PendingInput[]): EventGroup[] {
  const groups = new Map<string, EventGroup>();
  for (const pending of inputs) {
    for (const event of pending.input.events ?? []) {
      const key = eventKeyOf(organization.id, pending.id, event.external_id);
      const group = groups.get(key.sk) ?? { key, inputs: new Map<PendingInput, EventInput[]>() };
      const events = group.inputs.get(pending) ?? [];
      events.push(event);
      group.inputs.set(pending, events);
      groups.set(key.sk, group);
    }
  }
  return [...groups.values()];
}

/** What an input does to one of its events. */
interface EventEffect {
  readonly pending: PendingInput;
  /** `orphaned`: not written, because the item was deleted after its own write. */
  readonly outcome: RowOutcome | "orphaned";
  /** Whether its job has applied it to the event before. */
  readonly recognized: boolean;
}

/** The write of an event. Its result is the effect of each input. */
export function targetOfEvent(
  group: EventGroup,
  { records, owners, window, now, report }: WriteContext,
): WriteTarget<EventEffect[]> {
  return {
    key: records.keyOf(group.key),
    plan: (stored) => {
      const at = now();
      const before = workItemEventFrom(stored ?? records.baseOf(group.key));
      const applied = window && new AppliedRows(stored, window);
      const effects: EventEffect[] = [];
      const owner = owners.get(group.key.pk);
      const isDeleted = typeof owner?.["deleted_at"] === "string";
      const appliedToOwner = isDeleted && window ? new AppliedRows(owner, window) : undefined;
      let current = before;
      for (const [pending, inputs] of group.inputs) {
        const recognized = applied?.outcomeOf(pending.row);
        if (recognized !== undefined) {
          effects.push({ pending, outcome: recognized, recognized: true });
          continue;
        }
        if (isDeleted && appliedToOwner?.outcomeOf(pending.row) === undefined) {
          effects.push({ pending, outcome: "orphaned", recognized: false });
          continue;
        }
        let outcome: RowOutcome = "error";
        try {
          ({ outcome, next: current } = planEvent(current, inputs, at));
        } catch (cause) {
          report(cause);
        }
        effects.push({ pending, outcome, recognized: false });
        applied?.add(pending.row, outcome);
      }
      if (current === before) return { set: null, result: effects };
      const layers = records.layers(stored, before, current!);
      return {
        set: { ...current, ...records.common(), ...applied?.attributes(), ...layers },
        together: records.withEvent(owner),
        result: effects,
      };
    },
  };
}
