import { isoTime } from "../clock.ts";
import {
  optimisticWrite,
  type OptimisticWriteOptions,
  type WriteResult,
  type WriteTarget,
} from "../dynamodb/optimistic-write.ts";
import { createRecordStore } from "../dynamodb/record-store.ts";
import type { RecordKey, StoredRecord } from "../dynamodb/versioned-record.ts";
import type { Organization } from "../organizations/organization.ts";
import type { RuntimeWith } from "../runtime/runtime.ts";
import { type ApplyPlan, planApply, planEvent, TOO_LARGE_AFTER_MERGE } from "./plan-apply.ts";
import { formatUploadMark, type UploadMark, uploadMarkOf } from "./upload-mark.ts";
import type { EventInput, WorkItem, WorkItemInput } from "./work-item.ts";
import { attributesOf, eventKeyOf, itemIdOf, itemKeyOf, workItemEventFrom, workItemFrom } from "./work-item-record.ts";

export interface ApplyInput {
  readonly input: WorkItemInput;
  /** Number of the CSV row, where there is one. */
  readonly row?: number;
}

/** `skipped`: the row was applied by an earlier run of its job; it counts as succeeded. */
type ApplyOutcome = "created" | "updated" | "unchanged" | "restored" | "skipped" | "error";

interface ApplyResult {
  readonly id: string;
  readonly outcome: ApplyOutcome;
  /** The item after this input; null where it could not be applied. */
  readonly item: WorkItem | null;
  /** Set where the outcome is `error`. Not permanent (throttling, conflict, time): the same input may succeed later. */
  readonly error: { readonly message: string; readonly permanent: boolean } | null;
}

interface ApplyOptions {
  readonly dryRun?: boolean;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** The upload job whose rows these are. */
  readonly uploadJob?: string;
  /** Nothing is read first. An item that is there after all costs a failed condition, is read and then applied like any other. */
  readonly assumeNew?: boolean;
  /** Called after every read that a plan is based on and before anything is written; throws to stop. */
  readonly guard?: () => void;
}

export type ApplyWorkItems = (
  organization: Organization,
  inputs: readonly ApplyInput[],
  options: ApplyOptions,
) => Promise<ApplyResult[]>;

/** Failed rows that an item remembers of one job: more than any window that can be replayed holds. */
const REMEMBERED_FAILURES = 1000;

/** Inputs with the same external_id, in the order given. */
interface Group {
  readonly id: string;
  readonly key: RecordKey;
  readonly members: { readonly index: number; readonly input: WorkItemInput; readonly row: number | undefined }[];
}

type MemberPlan = ApplyPlan | { readonly outcome: "skipped"; readonly next: WorkItem };

const groupByItem = (organization: Organization, inputs: readonly ApplyInput[]): Group[] => {
  const groups = new Map<string, Group>();
  for (const [index, { input, row }] of inputs.entries()) {
    const key = itemKeyOf(organization.id, input.external_id);
    const group = groups.get(key.pk) ?? { id: itemIdOf(key), key, members: [] };
    group.members.push({ index, input, row });
    groups.set(key.pk, group);
  }
  return [...groups.values()];
};

/** Plans one group's inputs, each against the result of the one before. */
const planGroup = (group: Group, stored: StoredRecord | undefined, uploadJob: string | undefined, now: string) => {
  const before = workItemFrom(stored);
  const mark = uploadMarkOf(stored);
  const done = mark !== undefined && mark.job === uploadJob ? mark : undefined;
  const failed = [...(done?.failed ?? [])];
  const plans: MemberPlan[] = [];
  let current = before;
  let lastRow: number | undefined;
  for (const { input, row } of group.members) {
    if (done && row !== undefined && row <= done.row && before !== null) {
      const again = done.failed.includes(row);
      plans.push(again ? { outcome: "error", error: TOO_LARGE_AFTER_MERGE } : { outcome: "skipped", next: before });
      continue;
    }
    const plan = planApply(current, input.external_id, input, now);
    plans.push(plan);
    if (plan.outcome === "error") {
      if (row !== undefined) failed.push(row);
    } else if (plan.outcome !== "unchanged") {
      current = plan.next;
      lastRow = row;
    }
  }
  const nextMark: UploadMark | undefined =
    uploadJob === undefined || lastRow === undefined
      ? undefined
      : { job: uploadJob, row: lastRow, failed: failed.filter((row) => row < lastRow).slice(-REMEMBERED_FAILURES) };
  return { plans, next: current === before ? null : current, mark: nextMark };
};

const targetOfGroup = (
  organization: Organization,
  group: Group,
  uploadJob: string | undefined,
  now: () => string,
): WriteTarget<MemberPlan[]> => ({
  key: group.key,
  plan: (stored) => {
    const { plans, next, mark } = planGroup(group, stored, uploadJob, now());
    if (next === null) return { set: null, result: plans };
    const attributes = attributesOf(organization, group.id, next);
    return { set: mark ? { ...attributes, upload_mark: formatUploadMark(mark) } : attributes, result: plans };
  },
});

/** An event record and, by the index of the work item input, the event inputs that name it, in order. */
interface EventGroup {
  readonly key: RecordKey;
  readonly inputs: Map<number, EventInput[]>;
}

const groupEvents = (organization: Organization, groups: readonly Group[], isApplied: (index: number) => boolean) => {
  const events = new Map<string, EventGroup>();
  for (const { id, members } of groups) {
    for (const { index, input } of members.filter((member) => isApplied(member.index))) {
      for (const event of input.events ?? []) {
        const key = eventKeyOf(organization.id, id, event.external_id);
        const group = events.get(key.sk) ?? { key, inputs: new Map() };
        group.inputs.set(index, [...(group.inputs.get(index) ?? []), event]);
        events.set(key.sk, group);
      }
    }
  }
  return [...events.values()];
};

/** The result is the indexes of the inputs that change the event. */
const targetOfEvent = (group: EventGroup, now: () => string): WriteTarget<number[]> => ({
  key: group.key,
  plan: (stored) => {
    const at = now();
    const before = workItemEventFrom(stored);
    let current = before;
    const changedBy: number[] = [];
    for (const [index, inputs] of group.inputs) {
      const { outcome, next } = planEvent(current, inputs, at);
      if (outcome !== "unchanged") changedBy.push(index);
      current = next;
    }
    return { set: changedBy.length === 0 ? null : { ...current }, result: changedBy };
  },
});

const failure = (id: string, message: string, permanent: boolean): ApplyResult => ({
  id,
  outcome: "error",
  item: null,
  error: { message, permanent },
});

const resultsOf = (group: Group, written: WriteResult<MemberPlan[]>): [number, ApplyResult][] =>
  group.members.map(({ index }, position) => {
    if ("error" in written) return [index, failure(group.id, written.error, written.permanent)];
    const plan = written.result[position] as MemberPlan;
    if (plan.outcome === "error") return [index, failure(group.id, plan.error, true)];
    return [index, { id: group.id, outcome: plan.outcome, item: plan.next, error: null }];
  });

/**
 * Creates, updates or restores work items by external_id: the one way of batch and CSV, dry runs included.
 * A hundred inputs cost one BatchGetItem, nothing more for what is unchanged, and a BatchExecuteStatement for each 25 that differ.
 * Items are written before their events; an event's failure is its item's error, and the same call again heals it.
 * @throws StoreBusyError where nothing could be read, and what `guard` throws
 */
export const createApplyWorkItems = (runtime: RuntimeWith<"workItems">): ApplyWorkItems => {
  const { clock } = runtime;
  const store = createRecordStore(runtime);
  const now = () => isoTime(clock());

  return async (organization, inputs, { uploadJob, assumeNew = false, ...options }) => {
    const groups = groupByItem(organization, inputs);
    const allEvents = groupEvents(organization, groups, () => true);
    const keys = assumeNew ? [] : [...groups, ...allEvents].map(({ key }) => key);
    const known = await store.read(keys);
    options.guard?.();
    const writeOptions: OptimisticWriteOptions = { ...options, clock, known };

    const items = await optimisticWrite(
      store,
      groups.map((group) => targetOfGroup(organization, group, uploadJob, now)),
      writeOptions,
    );
    const results: ApplyResult[] = [];
    for (const [position, group] of groups.entries()) {
      for (const [index, result] of resultsOf(group, items[position]!)) results[index] = result;
    }

    const events = groupEvents(organization, groups, (index) => results[index]?.outcome !== "error");
    const eventResults = await optimisticWrite(
      store,
      events.map((event) => targetOfEvent(event, now)),
      writeOptions,
    );
    for (const [position, event] of events.entries()) {
      const written = eventResults[position]!;
      const changed = "error" in written ? [...event.inputs.keys()] : written.result;
      for (const index of changed) {
        const result = results[index]!;
        if ("error" in written) {
          results[index] = failure(result.id, `events: ${written.error}`, written.permanent);
        } else if (result.outcome === "unchanged") results[index] = { ...result, outcome: "updated" };
      }
    }
    return results;
  };
};
