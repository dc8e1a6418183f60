import { paginateQuery } from "@aws-sdk/lib-dynamodb";
import type { Attributes } from "../../aws/attribute-values.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import { isoTime } from "../../clock.ts";
import type { JsonValue } from "../../json.ts";
import type { Organization } from "../../organizations/organization.ts";
import { chunksOf, mapConcurrently } from "../../retry.ts";
import { keyText } from "../../store/batch-get.ts";
import { optimisticWrite, type OptimisticWriteOptions, type WriteTarget } from "../../store/optimistic-write.ts";
import { createRecordStore } from "../../store/record-store.ts";
import type { RecordKey, StoredRecord } from "../../store/versioned-record.ts";
import { traceOf } from "../../error-trace.ts";
import { findKnownJobs, type KnownJobs, appliedAfter, type RowSource, appliedByJob } from "../applied-rows.ts";
import { isUnfinished } from "../plan-apply.ts";
import type { WorkItem } from "../work-item.ts";
import type { WorkItemStatus } from "../work-item-fields.ts";
import {
  attributesOf,
  EVENT_SORT_KEY_PREFIX,
  eventKeyOf,
  itemIdOf,
  itemKeyOf,
  ITEM_SORT_KEY,
  workItemEventFrom,
  workItemFrom,
} from "../work-item-record.ts";
import type { Undoable } from "../changed-fields.ts";
import { type Import, toStoredLayers } from "./layers.ts";
import { type KeptReason, planUndo, type UndoOutcome, valuesOf } from "./plan-undo.ts";
import { hasLayers, layersIn } from "./undo.ts";

/** Items whose events are read at the same time. */
const CONCURRENT_ITEMS = 8;
/** Events that are planned and written together. */
const EVENTS_AT_ONCE = 100;
/** A record names the kept fields in at most this many bytes of JSON, so that they fit beside the largest item. */
const NAMES_MAX_BYTES = 8 * 1024;

/** The field that is named too if its item is no longer completed, and the reason if nothing else stays. */
const COMPLETED_AT = "completed_at";
const NOT_COMPLETED: KeptReason = "not_completed";

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
interface Effect {
  readonly outcome: UndoOutcome;
  readonly reason: KeptReason | undefined;
  readonly kept: readonly KeptField[];
  /** Whether the undo's job has undone the record before. */
  readonly isDone: boolean;
  /** Whether the record must still be written. */
  readonly isOpen: boolean;
}
const NO_EFFECT: Effect = { outcome: "unchanged", reason: undefined, kept: [], isDone: false, isOpen: false };

/** A row of the import. */
export interface UndoInput {
  readonly externalId: string;
  /** External ids of the events in the row. */
  readonly events: readonly string[];
}

/** The outcome of a row: the combined outcome of its item and its own events. */
export interface UndoResult {
  readonly id: string;
  readonly outcome: UndoOutcome | "error";
  /** Why something stays, if anything does. */
  readonly reason: KeptReason | undefined;
  readonly kept: readonly KeptField[];
  /** Whether the records remember that the job has undone the whole row before. */
  readonly recognized: boolean;
  /** Whether the row may succeed later. Only set for errors. */
  readonly isTemporary: boolean;
}

/** Options of an undo. */
export interface UndoOptions extends Pick<OptimisticWriteOptions, "deadline" | "dryRun" | "guard"> {
  /** The import to undo. */
  readonly undone: Import;
  /** Whether its rows may have events. */
  readonly hasEvents: boolean;
  /** The undo's own job. */
  readonly source: Pick<RowSource, "job" | "findEnded">;
}

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

function doneUndoIn(record: Attributes, job: string): DoneUndo | undefined {
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

/** The combined outcome of several records. */
function combined(outcomes: readonly UndoOutcome[]): UndoOutcome {
  const has = (outcome: UndoOutcome): boolean => outcomes.includes(outcome);
  const isPutBack = has("deleted") || has("undone");
  if (has("partly") || (isPutBack && (has("kept") || has("dropped")))) return "partly";
  if (isPutBack) return has("deleted") ? "deleted" : "undone";
  if (has("kept")) return "kept";
  return has("dropped") ? "dropped" : "unchanged";
}

/** The reason that stands for several: that nothing else stays is the least of them. */
function firstOf(reasons: readonly (KeptReason | undefined)[]): KeptReason | undefined {
  const given = reasons.filter((reason) => reason !== undefined);
  return given.find((reason) => reason !== NOT_COMPLETED) ?? given[0];
}

/** The item or event in a record. @throws MalformedRecordError */
function readRecord(record: StoredRecord) {
  if (record.sk === ITEM_SORT_KEY) {
    const item: Undoable | null = workItemFrom(record);
    return item && { fields: item, event: undefined };
  }
  const event = workItemEventFrom(record);
  return event && { fields: event as Undoable, event: event.external_id };
}

/** An event's outcome and reason in words for events: only items are `deleted` or `in_use`. */
function ofEvent({ outcome, reason }: Pick<Effect, "outcome" | "reason">): Pick<Effect, "outcome" | "reason"> {
  return {
    outcome: outcome === "deleted" ? "undone" : outcome,
    reason: reason === "in_use" ? "changed" : reason,
  };
}

/**
 * Makes the function that undoes an import in the items of rows, by `planUndo`. An item with a layer of the import is undone
 * after all of its events with one. Each undo job writes a record with a layer once, with every outcome, and the record
 * remembers what was done. Results are in the order of the inputs.
 * @throws StoreBusyError if nothing could be read, and errors of `guard`
 */
export function createUndoWorkItems(runtime: RuntimeWith<"workItems">) {
  const { dynamodb, environment, clock, log } = runtime;
  const store = createRecordStore(runtime);

  /** The write of a record. Its result is the effect of the undo. */
  const targetOf = (
    organization: Organization,
    key: RecordKey,
    known: KnownJobs,
    undone: Import,
  ): WriteTarget<Effect> => ({
    key,
    plan: (stored) => {
      const record = stored && readRecord(stored);
      if (!stored || !record) return { set: null, result: NO_EFFECT };
      const { fields, event } = record;
      const unfinishedStatus = (of: Undoable): WorkItemStatus | undefined =>
        event === undefined && of.deleted_at === null && isUnfinished(of as WorkItem)
          ? (of as WorkItem).status
          : undefined;
      const keptOf = (names: readonly string[], after: Undoable): KeptField[] => {
        const status = unfinishedStatus(after);
        return [...valuesOf(after, names)].map(([name, [now = null]]) => ({
          event,
          name,
          now,
          ...(name === COMPLETED_AT && status && { status }),
        }));
      };
      const done = doneUndoIn(stored, known.job);
      if (done !== undefined) {
        const { outcome, reason, names } = done;
        return { set: null, result: { outcome, reason, kept: keptOf(names, fields), isDone: true, isOpen: false } };
      }
      const now = clock();
      const undo = layersIn(stored, fields);
      const plan = planUndo(undo, fields, undone, isoTime(now));
      const { next } = plan;
      const becomesUnfinished = unfinishedStatus(next) !== undefined && unfinishedStatus(fields) === undefined;
      const { outcome, reason = becomesUnfinished ? NOT_COMPLETED : undefined } =
        event === undefined ? plan : ofEvent(plan);
      const names = namesThatFit(new Set([...(becomesUnfinished ? [COMPLETED_AT] : []), ...plan.kept.keys()]));
      const isOpen = plan.undo !== undo;
      const result = { outcome, reason, kept: keptOf(names, next), isDone: false, isOpen };
      if (!isOpen) return { set: null, result };
      const isChanged = outcome === "deleted" || outcome === "undone" || outcome === "partly";
      const item = { ...next, ...(isChanged && { updated_at: isoTime(now) }) } as Undoable;
      const attributes = event === undefined ? attributesOf(organization, itemIdOf(key), item as WorkItem) : next;
      const applied = appliedAfter(stored, known, formatDone({ outcome, reason, names }));
      return { set: { ...attributes, ...applied, undo: toStoredLayers(plan.undo, next, now) }, result };
    },
  });

  /** Chunks of an item's events that the import has changed. */
  async function* eventsOf({ pk }: RecordKey, undone: Import): AsyncGenerator<StoredRecord[]> {
    const query = {
      TableName: environment.WORK_ITEMS_TABLE,
      ConsistentRead: true,
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :events)",
      FilterExpression: "contains(#undo, :undone)",
      ExpressionAttributeNames: { "#undo": "undo" },
      ExpressionAttributeValues: { ":pk": pk, ":events": EVENT_SORT_KEY_PREFIX, ":undone": undone.id },
    };
    for await (const { Items = [] } of paginateQuery({ client: dynamodb }, query)) {
      // Even for an empty page, so that the caller can renew its claim before the next one.
      if (Items.length === 0) yield [];
      else yield* chunksOf(Items as StoredRecord[], EVENTS_AT_ONCE);
    }
  }

  return async (
    organization: Organization,
    inputs: readonly UndoInput[],
    { undone, hasEvents, source, deadline, dryRun, guard }: UndoOptions,
  ): Promise<UndoResult[]> => {
    const rows = inputs.map(({ externalId, events }) => {
      const item = itemKeyOf(organization.id, externalId);
      const id = itemIdOf(item);
      return { id, item, events: events.map((event) => eventKeyOf(organization.id, id, event)) };
    });
    const items = new Map(rows.map(({ item }) => [keyText(item), item]));
    const events = new Map(rows.flatMap((row) => row.events.map((key) => [keyText(key), key] as const)));
    /** Effects on the records of the rows. */
    const effects = new Map<string, Effect>();
    /** Items with a record that couldn't be written, by partition key. */
    const failed = new Map<string, { readonly isTemporary: boolean }>();

    const write = async (keys: Iterable<RecordKey>, found: ReadonlyMap<string, StoredRecord>): Promise<void> => {
      const open = [...keys].filter((key) => !effects.has(keyText(key)) && !failed.has(key.pk));
      const known = await findKnownJobs(source, found.values());
      const targets = open.map((key) => targetOf(organization, key, known, undone));
      const written = await optimisticWrite(store, targets, { clock, deadline, dryRun, guard, known: found });
      for (const [index, each] of written.entries()) {
        const key = open[index]!;
        const text = keyText(key);
        if ("result" in each) {
          if (items.has(text) || events.has(text)) effects.set(text, each.result);
          continue;
        }
        if (each.cause !== undefined)
          log.error("a record cannot be undone", { job: source.job, ...traceOf(each.cause) });
        failed.set(key.pk, { isTemporary: !each.permanent });
      }
    };

    const found = await store.read([...items.values(), ...events.values()]);
    if (hasEvents && !dryRun) {
      const withLayer = [...items.values()].filter((item) => {
        const record = found.get(keyText(item));
        return hasLayers(record) && record["undo"].includes(undone.id) && !doneUndoIn(record, source.job);
      });
      await mapConcurrently(withLayer, CONCURRENT_ITEMS, async (item) => {
        for await (const some of eventsOf(item, undone)) {
          await guard?.(false);
          if (clock() > deadline) failed.set(item.pk, { isTemporary: true });
          if (failed.has(item.pk)) return;
          await write(
            some.map(({ pk, sk }) => ({ pk, sk })),
            new Map(some.map((event) => [keyText(event), event])),
          );
        }
      });
    }
    await write(events.values(), found);
    await write(items.values(), found);

    return rows.map(({ id, item, events: own }): UndoResult => {
      const failure = failed.get(item.pk);
      const isTemporary = failure?.isTemporary === true;
      if (failure) return { id, outcome: "error", reason: undefined, kept: [], recognized: false, isTemporary };
      const parts = [item, ...own].map((key) => effects.get(keyText(key)) ?? NO_EFFECT);
      return {
        id,
        outcome: combined(parts.map(({ outcome }) => outcome)),
        reason: firstOf(parts.map(({ reason }) => reason)),
        kept: parts.flatMap(({ kept }) => kept),
        recognized: parts.some(({ isDone }) => isDone) && !parts.some(({ isOpen }) => isOpen),
        isTemporary,
      };
    });
  };
}
/** Undoes an import in items. */
export type UndoWorkItems = ReturnType<typeof createUndoWorkItems>;
