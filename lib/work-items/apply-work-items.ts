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
import { describeProblems, type Problem } from "../problem.ts";
import type { RuntimeWith } from "../runtime/runtime.ts";
import { type ApplyPlan, planApply, planEvent, TOO_LARGE_AFTER_MERGE } from "./plan-apply.ts";
import {
  type AppliedRow,
  type RowOutcome,
  uploadMarkAttributes,
  type UploadMarks,
  uploadMarksOf,
} from "./upload-mark.ts";
import type { EventInput, WorkItem, WorkItemInput } from "./work-item.ts";
import { attributesOf, eventKeyOf, itemIdOf, itemKeyOf, workItemEventFrom, workItemFrom } from "./work-item-record.ts";

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
  /** Those of some jobs that have ended, whose marks are not needed any more. */
  readonly findEnded: (jobs: readonly string[]) => Promise<ReadonlySet<string>>;
}

interface ApplyOptions {
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

/** Applies inputs. The results are in the order of the inputs. */
export type ApplyWorkItems = (
  organization: Organization,
  inputs: readonly ApplyInput[],
  options: ApplyOptions,
) => Promise<ApplyResult[]>;

/** Inputs with the same external_id, in their order. */
interface Group {
  readonly id: string;
  readonly key: RecordKey;
  readonly members: { readonly index: number; readonly input: WorkItemInput; readonly row: number | undefined }[];
}

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

/** What the marks of an item say of the rows of one job. */
interface Applied {
  readonly source: RowSource;
  /** Jobs whose marks can go. */
  readonly ended: ReadonlySet<string>;
}

/** The plan of a row that the job has applied before; undefined if it has not. */
const planAgain = (rows: readonly AppliedRow[], row: number | undefined, item: WorkItem): ApplyPlan | undefined => {
  if (row === undefined || row > (rows.at(-1)?.row ?? 0)) return undefined;
  const outcome = rows.find((applied) => applied.row === row)?.outcome ?? "unchanged";
  return outcome === "error" ? { outcome, error: TOO_LARGE_AFTER_MERGE } : { outcome, next: item };
};

/** Plans the inputs of a group, each based on the result of the one before. */
const planGroup = (group: Group, stored: StoredRecord | undefined, applied: Applied | undefined, now: string) => {
  const before = workItemFrom(stored);
  const marks = applied && uploadMarksOf(stored);
  const rows = [...(marks?.get(applied?.source.job ?? "") ?? [])];
  const known = [...rows];
  const plans: ApplyPlan[] = [];
  let current = before;
  for (const { input, row } of group.members) {
    const again = before && planAgain(known, row, before);
    const plan = again ?? planApply(current, input.external_id, input, now);
    plans.push(plan);
    if (again) continue;
    if (plan.outcome !== "error") current = plan.next;
    if (row !== undefined) rows.push({ row, outcome: plan.outcome });
  }
  return {
    plans,
    next: current === before ? null : current,
    marks: applied && marks && marksAfter(applied, marks, rows),
  };
};

/** Of the own job only the rows of the window, which may be applied again; of the others those that have not ended. */
const marksAfter = ({ source, ended }: Applied, marks: UploadMarks, rows: readonly AppliedRow[]): UploadMarks =>
  new Map([
    ...[...marks].filter(([job]) => job !== source.job && !ended.has(job)),
    [source.job, rows.filter(({ row }) => row >= source.firstRow)],
  ]);

const targetOfGroup = (
  organization: Organization,
  group: Group,
  applied: Applied | undefined,
  now: () => string,
): WriteTarget<ApplyPlan[]> => ({
  key: group.key,
  plan: (stored) => {
    const { plans, next, marks } = planGroup(group, stored, applied, now());
    if (next === null) return { set: null, result: plans };
    const attributes = attributesOf(organization, group.id, next);
    return { set: marks ? { ...attributes, ...uploadMarkAttributes(marks) } : attributes, result: plans };
  },
});

/** Jobs with marks on the items that have ended. */
const findEndedJobs = async (source: RowSource, records: Iterable<StoredRecord>): Promise<ReadonlySet<string>> => {
  const jobs = new Set([...records].flatMap((record) => [...uploadMarksOf(record).keys()]));
  jobs.delete(source.job);
  return jobs.size === 0 ? jobs : source.findEnded([...jobs]);
};

/** An event, and the inputs for it in order, by the index of their work item input. */
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

/** The write of an event. Its result is the indexes of the work item inputs that change the event. */
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

const resultsOf = (group: Group, written: WriteResult<ApplyPlan[]>): [number, ApplyResult][] =>
  group.members.map(({ index }, position) => {
    if ("error" in written) return [index, failure(group.id, writeError([], written))];
    const plan = written.result[position]!;
    if (plan.outcome === "error") {
      const message = describeProblems([plan.error]);
      return [index, failure(group.id, { message, problem: plan.error, permanent: true })];
    }
    return [index, { id: group.id, outcome: plan.outcome, item: plan.next, error: null }];
  });

/**
 * Creates, updates or restores work items by external_id, for the batch endpoint and CSV files, including dry runs.
 * A hundred inputs take one BatchGetItem, and one BatchExecuteStatement for every 25 items that change. Items are
 * written before their events. If an event fails, its item's outcome is an error; a repeated call applies the event.
 * @throws StoreBusyError if nothing could be read, and errors of `guard`
 */
export const createApplyWorkItems = (runtime: RuntimeWith<"workItems">): ApplyWorkItems => {
  const { clock } = runtime;
  const store = createRecordStore(runtime);
  const now = () => isoTime(clock());

  return async (organization, inputs, { source, assumeNew = false, ...options }) => {
    const groups = groupByItem(organization, inputs);
    const allEvents = groupEvents(organization, groups, () => true);
    const keys = assumeNew ? [] : [...groups, ...allEvents].map(({ key }) => key);
    const known = await store.read(keys);
    const applied = source && { source, ended: await findEndedJobs(source, known.values()) };
    options.guard?.();
    const writeOptions: OptimisticWriteOptions = { ...options, clock, known };

    const items = await optimisticWrite(
      store,
      groups.map((group) => targetOfGroup(organization, group, applied, now)),
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
          results[index] = failure(result.id, writeError(["events"], written));
        } else if (result.outcome === "unchanged") results[index] = { ...result, outcome: "updated" };
      }
    }
    return results;
  };
};
