import { isoTime } from "../clock.ts";
import { optimisticWrite, type OptimisticWriteOptions, type WriteResult } from "../store/optimistic-write.ts";
import { createRecordStore } from "../store/record-store.ts";
import type { RecordKey } from "../store/versioned-record.ts";
import type { Organization } from "../organizations/organization.ts";
import { describeProblems, type Problem } from "../errors.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import { traceOf } from "../trace.ts";
import { findApplied, readerOfItems, type RowSource } from "./applied-rows.ts";
import {
  type ApplyInput,
  CANNOT_BE_APPLIED,
  type Group,
  groupByItem,
  groupEvents,
  type Report,
  targetOfEvent,
  targetOfGroup,
  type WriteContext,
} from "./apply-targets.ts";
import type { ApplyPlan } from "./plan-apply.ts";
import { createPlannedRecords, createStoredRecords } from "./planned-records.ts";
import type { RowOutcome } from "./upload-mark.ts";
import type { WorkItem } from "./work-item.ts";

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
  /** Called if a write, or a read after it, was refused or had no response that can be read. */
  readonly onRefused?: () => void;
}

function failure(id: string, error: ApplyError): ApplyResult {
  return { id, outcome: "error", item: null, error };
}

/** The error of a write that was not carried out. @param path of what it would have written, in the input */
function writeError(
  path: Problem["path"],
  { error: message, permanent, cause }: Extract<WriteResult<unknown>, { error: string }>,
): ApplyError {
  const code = cause === undefined ? "too_big" : "invalid";
  return {
    message: [...path, message].join(": "),
    problem: { path, code: permanent ? code : "busy", message },
    permanent,
  };
}

/** The permanent error that a problem causes. */
function errorOfProblem(problem: Problem): ApplyError {
  return {
    message: problem.path.length === 0 ? problem.message : describeProblems([problem]),
    problem,
    permanent: true,
  };
}

/** The result of a group's member at a position. */
function resultOf({ id }: Group, position: number, written: WriteResult<ApplyPlan[]>): ApplyResult {
  if ("error" in written) return failure(id, writeError([], written));
  const plan = written.result[position]!;
  if (plan.outcome !== "error") return { id, outcome: plan.outcome, item: plan.next, error: null };
  return failure(id, errorOfProblem(plan.error));
}

/**
 * Creates, updates or restores work items by external_id, for the batch endpoint and CSV files, including dry runs.
 * A hundred inputs take one BatchGetItem, and one BatchExecuteStatement for every 25 items that change. Items are
 * written before their events. If an event fails, its item's outcome is an error; a repeated call applies the event.
 * The results are in the order of the inputs. If an input makes its plan throw, or its stored item is damaged, this is its
 * own permanent error, and is logged.
 * @throws StoreBusyError if nothing could be read, and errors of `guard`
 */
export function createApplyWorkItems(runtime: RuntimeWith<"workItems">) {
  const { clock, log } = runtime;
  const store = createRecordStore(runtime);
  const now = () => isoTime(clock());

  return async (
    organization: Organization,
    inputs: readonly ApplyInput[],
    { source, assumeNew = false, dryRun, deadline, guard, onRefused }: ApplyOptions,
  ): Promise<ApplyResult[]> => {
    const groups = groupByItem(organization, inputs);
    const allEvents = groupEvents(organization, groups, () => true);
    const records = source?.dryRun
      ? createPlannedRecords(store, organization, source.job, clock)
      : createStoredRecords(store, organization);
    const readAll = async (keys: readonly RecordKey[]) => (assumeNew ? [] : [...(await records.read(keys))]);
    const itemKeys = groups.map(({ key }) => key);
    const keysOfEvents = allEvents.map(({ key }) => key);
    // Of rows, events are read after the items, as in `readerOfItems`.
    const known = new Map(
      source
        ? [...(await readAll(itemKeys)), ...(await readAll(keysOfEvents))]
        : await readAll([...itemKeys, ...keysOfEvents]),
    );
    const eventKeys = keysOfEvents.map(records.keyOf);
    const applied = source && (await findApplied(source, known, eventKeys));
    guard?.();
    const writeOptions: OptimisticWriteOptions = { dryRun, deadline, guard, onRefused, clock, known };
    const report: Report = (cause) => {
      log.error("an input cannot be planned", { job: source?.job, ...traceOf(cause) });
    };
    const context: WriteContext = { records, applied, now, report };

    const items = await optimisticWrite(
      store,
      groups.map((group) => targetOfGroup(group, context)),
      {
        ...writeOptions,
        ...(applied && {
          read: readerOfItems(
            store,
            applied,
            Map.groupBy(eventKeys, ({ pk }) => pk),
          ),
        }),
      },
    );
    for (const written of items) if ("error" in written && written.cause !== undefined) report(written.cause);
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
      if ("error" in written) {
        if (written.cause !== undefined) report(written.cause);
        for (const index of event.members.keys()) {
          results[index] = failure(results[index]!.id, writeError(["events"], written));
        }
        continue;
      }
      for (const index of written.result.changedBy) {
        const result = results[index]!;
        if (result.outcome === "unchanged") results[index] = { ...result, outcome: "updated" };
      }
      for (const index of written.result.failed) {
        results[index] = failure(results[index]!.id, errorOfProblem(CANNOT_BE_APPLIED));
      }
    }
    return results;
  };
}
/** Applies inputs. */
export type ApplyWorkItems = ReturnType<typeof createApplyWorkItems>;
