import { isoTime } from "../clock.ts";
import { keyText } from "../dynamodb/batch-get.ts";
import {
  optimisticWrite,
  type OptimisticWriteOptions,
  type WriteResult,
  type WriteTarget,
} from "../dynamodb/optimistic-write.ts";
import { createRecordStore } from "../dynamodb/record-store.ts";
import type { RecordKey, StoredRecord } from "../dynamodb/versioned-record.ts";
import type { Organization } from "../organizations/organization.ts";
import { describeProblems, type Problem } from "../problem.ts";
import type { RuntimeWith } from "../runtime/runtime.ts";
import { type ApplyPlan, planApply, planEvent, TOO_LARGE_AFTER_MERGE } from "./plan-apply.ts";
import { createPlannedRecords, createStoredRecords, type ItemRecords } from "./planned-records.ts";
import { type MarkedJob, RecordMarks, type RowOutcome, uploadMarksOf } from "./upload-mark.ts";
import type { EventInput, WorkItem, WorkItemInput } from "./work-item.ts";
import { eventKeyOf, itemIdOf, itemKeyOf, workItemEventFrom, workItemFrom } from "./work-item-record.ts";

/** One input to apply. */
export interface ApplyInput {
  readonly input: WorkItemInput;
  /** Number of its CSV row, if it comes from a file. */
  readonly row?: number;
}

/** Why an input could not be applied. */
interface ApplyError {
  /** The problem with its place in the input. */
  readonly message: string;
  readonly problem: Problem;
  readonly permanent: boolean;
}

/** What became of an input. */
export interface ApplyResult {
  readonly id: string;
  readonly outcome: RowOutcome;
  /** The item after this input; null if the input could not be applied. */
  readonly item: WorkItem | null;
  /** Set if the outcome is `error`. If it is temporary (throttling, conflict, time), the input may succeed later. */
  readonly error: ApplyError | null;
}

/** The upload job that rows belong to. */
export interface RowSource {
  /** Id of the job. */
  readonly job: string;
  /** First row of the window that is applied: no earlier row is ever applied again. */
  readonly firstRow: number;
  /** Whether the rows are planned only. What they would make is kept beside the items until the job is forgotten. */
  readonly dryRun?: boolean;
  /** Those of some jobs that have ended, whose marks are not needed any more. */
  readonly findEnded: (jobs: readonly string[]) => Promise<ReadonlySet<string>>;
}

interface ApplyOptions {
  /** Writes nothing at all. Rows of an upload have a dry run of their own. */
  readonly dryRun?: boolean;
  /** Milliseconds since the epoch after which no further attempt is made. */
  readonly deadline: number;
  /** Set if the inputs are rows of an upload. */
  readonly source?: RowSource;
  /** Skips the first read of the items. Items that exist nevertheless fail their condition, and are then read. */
  readonly assumeNew?: boolean;
  /** Called between every read and the writes based on it; throws to prevent the writes. */
  readonly guard?: () => void;
}

/** Inputs with the same external_id, in their order. */
interface Group {
  readonly id: string;
  readonly key: RecordKey;
  readonly members: { readonly index: number; readonly input: WorkItemInput; readonly row: number | undefined }[];
}

const groupByItem = (organization: Organization, inputs: readonly ApplyInput[]): Group[] => {
  const groups = new Map<string, Group>();
  inputs.forEach(({ input, row }, index) => {
    const key = itemKeyOf(organization.id, input.external_id);
    const member = { index, input, row };
    const group = groups.get(key.pk);
    if (group) group.members.push(member);
    else groups.set(key.pk, { id: itemIdOf(key), key, members: [member] });
  });
  return [...groups.values()];
};

/** What is known of the job that rows belong to. */
interface Applied extends MarkedJob {
  /** Rows whose events the job has written, and so their items before. */
  readonly rowsWithEvents: ReadonlySet<number>;
}

/** The plan of a row that the job has applied before. */
const planAgain = (outcome: RowOutcome, item: WorkItem): ApplyPlan =>
  outcome === "error" ? { outcome, error: TOO_LARGE_AFTER_MERGE } : { outcome, next: item };

/** Plans the inputs of a group, each based on the result of the one before. */
const planGroup = (
  group: Group,
  stored: StoredRecord | undefined,
  before: WorkItem | null,
  applied: Applied | undefined,
  now: string,
) => {
  const marks = applied && new RecordMarks(stored, applied);
  const plans: ApplyPlan[] = [];
  let current = before;
  for (const { input, row = 0 } of group.members) {
    // An item that the row did not change has no mark of it, but its event does.
    const known = marks?.outcomeOf(row) ?? (applied?.rowsWithEvents.has(row) ? "unchanged" : undefined);
    if (before !== null && known !== undefined) {
      plans.push(planAgain(known, before));
      continue;
    }
    const plan = planApply(current, input.external_id, input, now);
    if (plan.outcome !== "error") current = plan.next;
    plans.push(plan);
    marks?.add(row, plan.outcome);
  }
  return { plans, next: current === before ? null : current, marks };
};

/** What all writes of a call have in common. */
interface WriteContext {
  readonly records: ItemRecords;
  readonly applied: Applied | undefined;
  readonly now: () => string;
}

const targetOfGroup = (group: Group, { records, applied, now }: WriteContext): WriteTarget<ApplyPlan[]> => ({
  key: records.keyOf(group.key),
  plan: (stored) => {
    const before = workItemFrom(stored ?? records.baseOf(group.key));
    const { plans, next, marks } = planGroup(group, stored, before, applied, now());
    if (next === null) return { set: null, result: plans };
    const set = Object.assign(records.ofItem(group.id, next), records.common(), marks?.attributes());
    return { set, result: plans };
  },
});

/** An event, and the inputs for it in order, by the index of their work item input. */
interface EventGroup {
  readonly key: RecordKey;
  readonly members: Map<number, { readonly row: number; readonly inputs: EventInput[] }>;
}

const groupEvents = (organization: Organization, groups: readonly Group[], isApplied: (index: number) => boolean) => {
  const events = new Map<string, EventGroup>();
  for (const { id, members } of groups) {
    for (const { index, input, row = 0 } of members) {
      if (input.events === undefined || !isApplied(index)) continue;
      for (const event of input.events) {
        const key = eventKeyOf(organization.id, id, event.external_id);
        const group = events.get(key.sk) ?? { key, members: new Map() };
        const member = group.members.get(index) ?? { row, inputs: [] };
        member.inputs.push(event);
        group.members.set(index, member);
        events.set(key.sk, group);
      }
    }
  }
  return [...events.values()];
};

/** What the marks of items and events say of a job. */
const findApplied = async (
  { job, firstRow, findEnded }: RowSource,
  records: ItemRecords,
  known: ReadonlyMap<string, StoredRecord>,
  events: readonly EventGroup[],
): Promise<Applied> => {
  const jobs = new Set([...known.values()].flatMap((record) => [...uploadMarksOf(record).keys()]));
  jobs.delete(job);
  const rows = events.flatMap(({ key }) => uploadMarksOf(known.get(keyText(records.keyOf(key)))).get(job) ?? []);
  return {
    job,
    firstRow,
    ended: jobs.size === 0 ? jobs : await findEnded([...jobs]),
    rowsWithEvents: new Set(rows.map(({ row }) => row)),
  };
};

/** The write of an event. Its result is the indexes of the work item inputs that change the event. */
const targetOfEvent = (group: EventGroup, { records, applied, now }: WriteContext): WriteTarget<number[]> => ({
  key: records.keyOf(group.key),
  plan: (stored) => {
    const at = now();
    const before = workItemEventFrom(stored ?? records.baseOf(group.key));
    const marks = applied && new RecordMarks(stored, applied);
    let current = before;
    const changedBy: number[] = [];
    for (const [index, { row, inputs }] of group.members) {
      const known = marks?.outcomeOf(row);
      if (known !== undefined) {
        if (known !== "unchanged") changedBy.push(index);
        continue;
      }
      const { outcome, next } = planEvent(current, inputs, at);
      if (outcome !== "unchanged") changedBy.push(index);
      current = next;
      marks?.add(row, outcome);
    }
    if (current === before) return { set: null, result: changedBy };
    return { set: { ...current, ...records.common(), ...marks?.attributes() }, result: changedBy };
  },
});

const failure = (id: string, error: ApplyError): ApplyResult => ({ id, outcome: "error", item: null, error });

/** The error of a write that was not carried out. @param path of what it would have written, in the input */
const writeError = (
  path: Problem["path"],
  { error: message, permanent }: Extract<WriteResult<unknown>, { error: string }>,
): ApplyError => ({
  message: [...path, message].join(": "),
  problem: { path, code: permanent ? "too_big" : "busy", message },
  permanent,
});

/** The result of a group's member at a position. */
const resultOf = ({ id }: Group, position: number, written: WriteResult<ApplyPlan[]>): ApplyResult => {
  if ("error" in written) return failure(id, writeError([], written));
  const plan = written.result[position]!;
  if (plan.outcome !== "error") return { id, outcome: plan.outcome, item: plan.next, error: null };
  return failure(id, { message: describeProblems([plan.error]), problem: plan.error, permanent: true });
};

/**
 * Creates, updates or restores work items by external_id, for the batch endpoint and CSV files, including dry runs.
 * A hundred inputs take one BatchGetItem, and one BatchExecuteStatement for every 25 items that change. Items are
 * written before their events. If an event fails, its item's outcome is an error; a repeated call applies the event.
 * The results are in the order of the inputs.
 * @throws StoreBusyError if nothing could be read, and errors of `guard`
 */
export const createApplyWorkItems = (runtime: RuntimeWith<"workItems">) => {
  const { clock } = runtime;
  const store = createRecordStore(runtime);
  const now = () => isoTime(clock());

  return async (
    organization: Organization,
    inputs: readonly ApplyInput[],
    { source, assumeNew = false, dryRun, deadline, guard }: ApplyOptions,
  ): Promise<ApplyResult[]> => {
    const groups = groupByItem(organization, inputs);
    const allEvents = groupEvents(organization, groups, () => true);
    const records = source?.dryRun
      ? createPlannedRecords(store, organization, source.job, clock)
      : createStoredRecords(store, organization);
    const known = await records.read(assumeNew ? [] : [...groups, ...allEvents].map(({ key }) => key));
    const applied = source && (await findApplied(source, records, known, allEvents));
    guard?.();
    const writeOptions: OptimisticWriteOptions = { dryRun, deadline, guard, clock, known };
    const context: WriteContext = { records, applied, now };

    const items = await optimisticWrite(
      store,
      groups.map((group) => targetOfGroup(group, context)),
      writeOptions,
    );
    const results: ApplyResult[] = [];
    groups.forEach((group, at) => {
      group.members.forEach(({ index }, position) => {
        results[index] = resultOf(group, position, items[at]!);
      });
    });

    const events = groupEvents(organization, groups, (index) => results[index]?.outcome !== "error");
    const eventResults = await optimisticWrite(
      store,
      events.map((event) => targetOfEvent(event, context)),
      writeOptions,
    );
    for (const [position, event] of events.entries()) {
      const written = eventResults[position]!;
      const changed = "error" in written ? [...event.members.keys()] : written.result;
      for (const index of changed) {
        const result = results[index]!;
        if ("error" in written) {
          results[index] = failure(result.id, writeError(["events"], written));
        } else if (result.outcome === "unchanged") results[index] = { ...result, outcome: "updated" };
      }
    }
    return results;
  };
};
/** Applies inputs. */
export type ApplyWorkItems = ReturnType<typeof createApplyWorkItems>;
