import type { WriteTarget } from "../store/optimistic-write.ts";
import type { RecordKey, StoredRecord } from "../store/versioned-record.ts";
import type { Organization } from "../organizations/organization.ts";
import { type ApplyInput, AppliedInput, CANNOT_BE_APPLIED } from "./applied-input.ts";
import type { Applied } from "./applied-rows.ts";
import { type ApplyPlan, planApply, planEvent, TOO_LARGE_AFTER_MERGE } from "./plan-apply.ts";
import type { ItemRecords } from "./planned-records.ts";
import { RecordMarks, type RowOutcome } from "./upload-mark.ts";
import type { EventInput, WorkItem } from "./work-item.ts";
import { eventKeyOf, itemIdOf, itemKeyOf, workItemEventFrom, workItemFrom } from "./work-item-record.ts";

/** Inputs with the same external_id, in their order. */
export interface Group {
  readonly id: string;
  readonly key: RecordKey;
  readonly members: AppliedInput[];
}

/** The inputs in their order, grouped by their items. */
export function groupByItem(organization: Organization, inputs: readonly ApplyInput[]) {
  const groups = new Map<string, Group>();
  const members = inputs.map((each) => {
    const key = itemKeyOf(organization.id, each.input.external_id);
    const group = groups.get(key.pk) ?? { id: itemIdOf(key), key, members: [] };
    const member = new AppliedInput(group.id, each);
    group.members.push(member);
    groups.set(key.pk, group);
    return member;
  });
  return { members, groups: [...groups.values()] };
}

/** Gets what code that reads and plans inputs has thrown: a defect, or a damaged record. */
export type Report = (cause: unknown) => void;

/** The plan of a row that the job has applied before. @param plan makes the row's plan, to find its error again */
function planAgain(outcome: RowOutcome, item: WorkItem, plan: () => ApplyPlan): ApplyPlan {
  if (outcome !== "error") return { outcome, next: item };
  const again = plan();
  return again.outcome === "error" ? again : { outcome, error: TOO_LARGE_AFTER_MERGE };
}

/** Plans the inputs of a group, each based on the result of the one before. */
function planGroup(
  group: Group,
  stored: StoredRecord | undefined,
  before: WorkItem | null,
  { applied, report, ...context }: WriteContext,
) {
  const now = context.now();
  const marks = applied && new RecordMarks(stored, applied);
  const plans: ApplyPlan[] = [];
  let current = before;
  for (const member of group.members) {
    const { input, row } = member;
    const planMember = (): ApplyPlan => {
      try {
        return planApply(current, input.external_id, input, now);
      } catch (cause) {
        report(cause);
        return { outcome: "error", error: CANNOT_BE_APPLIED };
      }
    };
    // An item that the row did not change has no mark of it, but its event does.
    const known = marks?.outcomeOf(row) ?? (applied?.rowsWithEvents.has(row) ? "unchanged" : undefined);
    if (before !== null && known !== undefined) {
      member.setRecognized();
      plans.push(planAgain(known, before, planMember));
      continue;
    }
    const plan = planMember();
    if (plan.outcome !== "error") current = plan.next;
    plans.push(plan);
    marks?.add(row, plan.outcome);
  }
  return { plans, next: current === before ? null : current, marks };
}

/** What all writes of a call have in common. */
export interface WriteContext {
  readonly records: ItemRecords;
  readonly applied: Applied | undefined;
  readonly now: () => string;
  readonly report: Report;
}

export function targetOfGroup(group: Group, context: WriteContext): WriteTarget<ApplyPlan[]> {
  return {
    key: context.records.keyOf(group.key),
    plan: (stored) => {
      const { records } = context;
      const before = workItemFrom(stored ?? records.baseOf(group.key));
      const { plans, next, marks } = planGroup(group, stored, before, context);
      if (next === null) return { set: null, result: plans };
      const set = Object.assign(records.ofItem(group.id, next), records.common(), marks?.attributes());
      return { set, result: plans };
    },
  };
}

/** An event, and the inputs for it in order, by their work item input. */
export interface EventGroup {
  readonly key: RecordKey;
  readonly members: Map<AppliedInput, EventInput[]>;
}

/** The events of inputs, grouped by their records. */
export function groupEvents(organization: Organization, members: readonly AppliedInput[]): EventGroup[] {
  const events = new Map<string, EventGroup>();
  for (const member of members) {
    for (const event of member.input.events ?? []) {
      const key = eventKeyOf(organization.id, member.id, event.external_id);
      const group = events.get(key.sk) ?? { key, members: new Map<AppliedInput, EventInput[]>() };
      const inputs = group.members.get(member) ?? [];
      inputs.push(event);
      group.members.set(member, inputs);
      events.set(key.sk, group);
    }
  }
  return [...events.values()];
}

/** What the write of an event did: the inputs that change it, and those whose plan throws. */
export interface EventResult {
  readonly changedBy: readonly AppliedInput[];
  readonly failed: readonly AppliedInput[];
}

/** The write of an event. */
export function targetOfEvent(
  group: EventGroup,
  { records, applied, now, report }: WriteContext,
): WriteTarget<EventResult> {
  return {
    key: records.keyOf(group.key),
    plan: (stored) => {
      const at = now();
      const before = workItemEventFrom(stored ?? records.baseOf(group.key));
      const marks = applied && new RecordMarks(stored, applied);
      let current = before;
      const changedBy: AppliedInput[] = [];
      const failed: AppliedInput[] = [];
      for (const [member, inputs] of group.members) {
        const { row } = member;
        const known = marks?.outcomeOf(row);
        if (known !== undefined) {
          member.setRecognized();
          if (known === "error") failed.push(member);
          else if (known !== "unchanged") changedBy.push(member);
          continue;
        }
        try {
          const { outcome, next } = planEvent(current, inputs, at);
          if (outcome !== "unchanged") {
            changedBy.push(member);
            member.setEventLeft();
          }
          current = next;
          marks?.add(row, outcome);
        } catch (cause) {
          report(cause);
          failed.push(member);
          marks?.add(row, "error");
        }
      }
      const result: EventResult = { changedBy, failed };
      if (current === before) return { set: null, result };
      return { set: { ...current, ...records.common(), ...marks?.attributes() }, result };
    },
  };
}
