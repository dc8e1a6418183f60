import type { Attributes } from "../../aws/attribute-values.ts";
import { type Clock, isoTime } from "../../clock.ts";
import type { JsonValue } from "../../json.ts";
import type { Organization } from "../../organizations/organization.ts";
import type { WriteTarget } from "../../store/optimistic-write.ts";
import type { RecordKey, StoredRecord } from "../../store/versioned-record.ts";
import { type KnownJobs, appliedAfter, appliedByJob } from "../applied-rows.ts";
import { NO_CHANGES, type RowChanges, rowChangesOf, type Undoable } from "../changed-fields.ts";
import { isUnfinished } from "../plan-apply.ts";
import type { WorkItem } from "../work-item.ts";
import type { WorkItemStatus } from "../work-item-fields.ts";
import { attributesOf, itemIdOf, ITEM_SORT_KEY, workItemEventFrom, workItemFrom } from "../work-item-record.ts";
import { type Import, toStoredLayers } from "./layers.ts";
import { type KeptReason, planUndo, type UndoOutcome, valuesOf } from "./plan-undo.ts";
import { layersIn } from "./undo.ts";

/** A record names the kept fields in at most this many bytes of JSON, so that they fit beside the largest item. */
const NAMES_MAX_BYTES = 8 * 1024;

/** The field that is named too if its item is no longer completed, and the reason if nothing else stays. */
const COMPLETED_AT = "completed_at";
export const NOT_COMPLETED: KeptReason = "not_completed";

/** A field that the import changed and that stays, or the completion date of an item that is no longer completed. */
export interface KeptField {
  /** The event's external_id; undefined for a field of the item. */
  readonly event: string | undefined;
  readonly name: string;
  readonly now: JsonValue;
  /** Of a completion date: the item's status, if it isn't completed. */
  readonly status?: WorkItemStatus;
}

/** The effect of an undo on the record of an item or event. */
export interface RecordUndo {
  readonly outcome: UndoOutcome;
  readonly reason: KeptReason | undefined;
  readonly kept: readonly KeptField[];
  /** What a dry run would put back in an item that stays. */
  readonly changes: RowChanges;
  /** Whether the undo's job has undone the record before. */
  readonly isDone: boolean;
  /** Whether the record must still be written. */
  readonly isOpen: boolean;
}
export const NO_EFFECT: RecordUndo = {
  outcome: "unchanged",
  reason: undefined,
  kept: [],
  changes: NO_CHANGES,
  isDone: false,
  isOpen: false,
};

/** What a record remembers about an undo until the undo's job has ended. */
interface DoneUndo {
  readonly outcome: UndoOutcome;
  readonly reason: KeptReason | undefined;
  /** The fields that stay. */
  readonly names: readonly string[];
}
const CODES: Readonly<Record<UndoOutcome, string>> = {
  deleted: "d",
  undone: "b",
  partly: "p",
  kept: "k",
  dropped: "x",
  unchanged: "n",
};
const OUTCOMES = new Map(Object.entries(CODES).map(([outcome, code]) => [code, outcome as UndoOutcome]));

/** As text: the code of the outcome and, if something stays, JSON in base64url with the reason and the names. */
function formatDone({ outcome, reason, names }: DoneUndo): string {
  if (reason === undefined) return CODES[outcome];
  return `${CODES[outcome]}=${Buffer.from(JSON.stringify([reason, ...names])).toString("base64url")}`;
}

/** What a record remembers about a job's undo; undefined if the job hasn't undone it. */
export function doneUndoIn(record: Attributes, job: string): DoneUndo | undefined {
  const text = appliedByJob(record).get(job);
  if (text === undefined) return undefined;
  const [code = "", kept] = text.split("=", 2);
  const [reason, ...names] =
    kept === undefined ? [] : (JSON.parse(Buffer.from(kept, "base64url").toString()) as [KeptReason, ...string[]]);
  return { outcome: OUTCOMES.get(code) ?? "unchanged", reason, names };
}

/** The first names, as many as fit. */
function namesThatFit(names: Iterable<string>): string[] {
  const fitting: string[] = [];
  let bytes = 0;
  for (const name of names) {
    bytes += Buffer.byteLength(JSON.stringify(name)) + 1;
    if (bytes > NAMES_MAX_BYTES) break;
    fitting.push(name);
  }
  return fitting;
}

/** An item or event. */
interface ItemOrEvent {
  readonly fields: Undoable;
  /** The event's external_id; undefined for an item. */
  readonly event: string | undefined;
}

/** The item or event in a record. @throws MalformedRecordError */
function readRecord(record: StoredRecord): ItemOrEvent | null {
  if (record.sk === ITEM_SORT_KEY) {
    const item: Undoable | null = workItemFrom(record);
    return item && { fields: item, event: undefined };
  }
  const event = workItemEventFrom(record);
  return event && { fields: event, event: event.external_id };
}

/** An event's outcome and reason in words for events: only items are `deleted` or `in_use`. */
function inWordsForEvents({
  outcome,
  reason,
}: Pick<RecordUndo, "outcome" | "reason">): Pick<RecordUndo, "outcome" | "reason"> {
  return {
    outcome: outcome === "deleted" ? "undone" : outcome,
    reason: reason === "in_use" ? "changed" : reason,
  };
}

/** The status of an item that isn't completed; undefined for all other items, and for events. */
function unfinishedStatus({ fields, event }: ItemOrEvent): WorkItemStatus | undefined {
  if (event !== undefined || fields.deleted_at !== null) return undefined;
  const item = fields as WorkItem;
  return isUnfinished(item) ? item.status : undefined;
}

/** The fields with these names, as they stay. */
function keptFields(record: ItemOrEvent, names: readonly string[]): KeptField[] {
  const { fields, event } = record;
  const status = unfinishedStatus(record);
  return [...valuesOf(fields, names)].map(([name, [now = null]]) => ({
    event,
    name,
    now,
    ...(name === COMPLETED_AT && status && { status }),
  }));
}

/** The undo of an import. */
interface UndoContext {
  readonly organization: Organization;
  /** The import. */
  readonly undone: Import;
  /** The undo's job, and the ended ones among those that have written the records. */
  readonly jobs: KnownJobs;
  readonly dryRun: boolean | undefined;
  readonly clock: Clock;
}

/** Plans the undo in a record that the job hasn't undone yet. */
function planRecord(
  key: RecordKey,
  stored: StoredRecord,
  before: ItemOrEvent,
  { organization, undone, jobs, dryRun = false, clock }: UndoContext,
): { readonly set: Attributes | null; readonly result: RecordUndo } {
  const now = clock();
  const { fields, event } = before;
  const undo = layersIn(stored, fields);
  const plan = planUndo(undo, fields, undone, isoTime(now));
  const after = { fields: plan.next, event };
  const becomesUnfinished = unfinishedStatus(after) !== undefined && unfinishedStatus(before) === undefined;
  const { outcome, reason = becomesUnfinished ? NOT_COMPLETED : undefined } =
    event === undefined ? plan : inWordsForEvents(plan);
  const names = namesThatFit(new Set([...(becomesUnfinished ? [COMPLETED_AT] : []), ...plan.kept.keys()]));
  const isOpen = plan.undo !== undo;
  const isPutBack = outcome === "undone" || outcome === "partly";
  const changes = dryRun && isPutBack && event === undefined ? rowChangesOf(fields, plan.next) : NO_CHANGES;
  const result = { outcome, reason, kept: keptFields(after, names), changes, isDone: false, isOpen };
  if (!isOpen) return { set: null, result };
  const isChanged = isPutBack || outcome === "deleted";
  const next = { ...plan.next, ...(isChanged && { updated_at: isoTime(now) }) } as Undoable;
  const attributes = event === undefined ? attributesOf(organization, itemIdOf(key), next as WorkItem) : plan.next;
  const applied = appliedAfter(stored, jobs, formatDone({ outcome, reason, names }));
  return { set: { ...attributes, ...applied, undo: toStoredLayers(plan.undo, plan.next, now) }, result };
}

/** The write of a record. Its result is the effect of the undo. */
export function targetOfUndo(key: RecordKey, context: UndoContext): WriteTarget<RecordUndo> {
  return {
    key,
    plan: (stored) => {
      const record = stored && readRecord(stored);
      if (!stored || !record) return { set: null, result: NO_EFFECT };
      const done = doneUndoIn(stored, context.jobs.job);
      if (done === undefined) return planRecord(key, stored, record, context);
      const { outcome, reason, names } = done;
      const kept = keptFields(record, names);
      return { set: null, result: { ...NO_EFFECT, outcome, reason, kept, isDone: true } };
    },
  };
}
