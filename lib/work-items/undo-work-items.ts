import { paginateQuery } from "@aws-sdk/lib-dynamodb";
import { isoTime } from "../clock.ts";
import type { JsonValue } from "../json.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import type { Organization } from "../organizations/organization.ts";
import { mapConcurrently } from "../retry.ts";
import { keyText } from "../store/batch-get.ts";
import { optimisticWrite, type OptimisticWriteOptions, type WriteTarget } from "../store/optimistic-write.ts";
import { createRecordStore } from "../store/record-store.ts";
import type { RecordKey, StoredRecord } from "../store/versioned-record.ts";
import { traceOf } from "../trace.ts";
import { layersIn } from "./kept-layers.ts";
import { findKnownRows, type RowSource } from "./known-rows.ts";
import { type Import, planUndo, toStoredLayers, type Undoable, valuesOf } from "./undo-layers.ts";
import { type KnownRows, RecordMarks, type UndoOutcome } from "./upload-mark.ts";
import type { WorkItem } from "./work-item.ts";
import {
  attributesOf,
  EVENT_SORT_KEY_PREFIX,
  itemIdOf,
  itemKeyOf,
  ITEM_SORT_KEY,
  workItemEventFrom,
  workItemFrom,
} from "./work-item-record.ts";

/** Items whose events are read at the same time. */
const CONCURRENT_ITEMS = 8;
/** Events that are read, planned and written together. */
const EVENTS_AT_ONCE = 100;
/** An item may have a million events: a result names this many fields. */
const KEPT_MAX = 1000;
/** The attribute that names what the last undo of a record has kept, should its row be applied again. */
const KEPT = "undo_kept";

/** The field that says whether a record is deleted. */
export const EXISTENCE = "deleted_at";

/** A field that the import changed and that stays. */
export interface KeptField {
  /** The event's external_id; undefined for a field of the item. */
  readonly event: string | undefined;
  /** `EXISTENCE` if the import made the record, or restored it, and it stays. */
  readonly name: string;
  readonly now: JsonValue;
}

/** What an undo does to one record. */
interface Effect {
  readonly outcome: UndoOutcome;
  readonly kept: readonly KeptField[];
  /** Whether its job has undone it before. */
  readonly recognized: boolean;
  readonly isWritten: boolean;
}
const NO_EFFECT: Effect = { outcome: "unchanged", kept: [], recognized: false, isWritten: false };

/** An item to undo an import in. */
export interface UndoInput {
  readonly externalId: string;
  /** Number of its row. */
  readonly row: number;
}

/** The outcome of an item and its events together. */
export interface UndoResult {
  readonly id: string;
  readonly outcome: UndoOutcome | "error";
  readonly kept: readonly KeptField[];
  /** Whether its job has undone all of it before, as the marks say. */
  readonly recognized: boolean;
  /** Whether it may succeed later. Only of errors. */
  readonly isTemporary: boolean;
}

/** Options of an undo. */
export interface UndoOptions extends Pick<OptimisticWriteOptions, "deadline" | "dryRun" | "guard"> {
  /** The import to undo. */
  readonly undone: Import;
  /** Whether its rows may have events. */
  readonly hasEvents: boolean;
  /** The undo's own job. */
  readonly source: RowSource;
}

/** One item on its way to its result. */
class PendingUndo {
  readonly key: RecordKey;
  readonly row: number;
  readonly #outcomes = new Set<UndoOutcome>();
  readonly #kept: KeptField[] = [];
  #recognized = false;
  #isOpen = false;
  #error: "permanent" | "temporary" | undefined;

  constructor(organization: Organization, { externalId, row }: UndoInput) {
    this.key = itemKeyOf(organization.id, externalId);
    this.row = row;
  }

  get hasFailed(): boolean {
    return this.#error !== undefined;
  }

  take({ outcome, kept, recognized, isWritten }: Effect): void {
    this.#outcomes.add(outcome);
    this.#kept.push(...kept.slice(0, KEPT_MAX - this.#kept.length));
    if (recognized) this.#recognized = true;
    if (isWritten) this.#isOpen = true;
  }

  fail(isPermanent: boolean): void {
    this.#error = isPermanent ? "permanent" : "temporary";
  }

  get result(): UndoResult {
    return {
      id: itemIdOf(this.key),
      outcome: this.hasFailed ? "error" : this.#outcome,
      kept: this.#kept,
      recognized: this.#recognized && !this.#isOpen,
      isTemporary: this.#error === "temporary",
    };
  }

  get #outcome(): UndoOutcome {
    const has = (outcome: UndoOutcome): boolean => this.#outcomes.has(outcome);
    const isUndone = has("undone") || has("partly");
    if (!has("partly") && !has("kept") && !has("dropped")) return isUndone ? "undone" : "unchanged";
    if (isUndone) return "partly";
    return has("kept") ? "kept" : "dropped";
  }
}

function keptFields(event: string | undefined, kept: ReturnType<typeof valuesOf>): KeptField[] {
  return [...kept].map(([name, [now = null]]) => ({ event, name, now }));
}

/** The names that a job has left in a record. */
function keptNames(record: StoredRecord, job: string): string[] {
  const text = record[KEPT];
  const [of, ...names] = typeof text === "string" ? (JSON.parse(text) as string[]) : [];
  return of === job ? names : [];
}

/** The item or event in a record, as the rules see it. @throws MalformedRecordError */
function readRecord(record: StoredRecord) {
  if (record.sk === ITEM_SORT_KEY) {
    const item: Undoable | null = workItemFrom(record);
    return item && { fields: item, event: undefined };
  }
  const event = workItemEventFrom(record);
  return event && { fields: event as Undoable, event: event.external_id };
}

/**
 * Makes the function that undoes an import in items and their events, as `planUndo` says. An item's events come first: an item that
 * the import made is deleted only if no one else uses it. Results are in the order of the inputs.
 * @throws StoreBusyError if nothing could be read, and errors of `guard`
 */
export function createUndoWorkItems(runtime: RuntimeWith<"workItems">) {
  const { dynamodb, environment, clock, log } = runtime;
  const store = createRecordStore(runtime);

  /** The write of a record. Its result is what the undo does to it. */
  const targetOf = (
    organization: Organization,
    key: RecordKey,
    row: number,
    known: KnownRows,
    undone: Import,
  ): WriteTarget<Effect> => ({
    key,
    plan: (stored) => {
      const record = stored && readRecord(stored);
      if (!stored || !record) return { set: null, result: NO_EFFECT };
      const { fields, event } = record;
      const marks = new RecordMarks<UndoOutcome>(stored, known);
      const before = marks.outcomeOf(row);
      if (before !== undefined) {
        const kept = keptFields(event, valuesOf(fields, keptNames(stored, known.job)));
        return { set: null, result: { outcome: before, kept, recognized: true, isWritten: false } };
      }
      const now = clock();
      const undo = layersIn(stored, fields);
      const plan = planUndo(undo, fields, undone, isoTime(now));
      const outcome: UndoOutcome = plan.outcome === "nothing" ? "unchanged" : plan.outcome;
      const isWritten = plan.undo !== undo;
      const kept = keptFields(event, plan.kept);
      const result = { outcome, kept, recognized: false, isWritten };
      if (!isWritten) return { set: null, result };
      marks.add(row, outcome);
      const isChanged = outcome === "undone" || outcome === "partly";
      const item = { ...plan.next, ...(isChanged && { updated_at: isoTime(now) }) } as Undoable;
      const next = event === undefined ? attributesOf(organization, itemIdOf(key), item as WorkItem) : plan.next;
      const layers = toStoredLayers(plan.undo, plan.next, now);
      const names = kept.length > 0 ? JSON.stringify([known.job, ...plan.kept.keys()]) : null;
      return { set: { ...next, ...marks.attributes(), undo: layers, [KEPT]: names }, result };
    },
  });

  /** The events of an item that the import has changed, or the undo before, a page at a time. */
  async function* eventsOf({ pk }: RecordKey, { undone, source }: UndoOptions): AsyncGenerator<StoredRecord[]> {
    const query = {
      TableName: environment.WORK_ITEMS_TABLE,
      ConsistentRead: true,
      Limit: EVENTS_AT_ONCE,
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :events)",
      FilterExpression: "contains(#undo, :undone) OR contains(#marks, :job) OR contains(#undo, :dropped)",
      ExpressionAttributeNames: { "#undo": "undo", "#marks": "upload_marks" },
      ExpressionAttributeValues: {
        ":pk": pk,
        ":events": EVENT_SORT_KEY_PREFIX,
        ":undone": undone.id,
        ":job": source.job,
        ":dropped": "dropped_until",
      },
    };
    for await (const { Items = [] } of paginateQuery({ client: dynamodb }, query)) yield Items as StoredRecord[];
  }

  return async (
    organization: Organization,
    inputs: readonly UndoInput[],
    options: UndoOptions,
  ): Promise<UndoResult[]> => {
    const { undone, hasEvents, source, deadline, dryRun, guard } = options;
    const pending = inputs.map((input) => new PendingUndo(organization, input));

    const write = async (owners: readonly PendingUndo[], keys: readonly RecordKey[], found: Iterable<StoredRecord>) => {
      const records = new Map([...found].map((record) => [keyText(record), record]));
      const known = await findKnownRows(source, records, []);
      const targets = keys.map((key, place) => targetOf(organization, key, owners[place]!.row, known, undone));
      const written = await optimisticWrite(store, targets, { clock, deadline, dryRun, guard, known: records });
      for (const [place, each] of written.entries()) {
        if ("result" in each) owners[place]!.take(each.result);
        else {
          if (each.cause !== undefined)
            log.error("a record cannot be undone", { job: source.job, ...traceOf(each.cause) });
          owners[place]!.fail(each.permanent);
        }
      }
    };

    if (hasEvents) {
      await mapConcurrently(pending, CONCURRENT_ITEMS, async (item) => {
        for await (const events of eventsOf(item.key, options)) {
          const keys = events.map(({ pk, sk }) => ({ pk, sk }));
          await write(
            keys.map(() => item),
            keys,
            events,
          );
          if (item.hasFailed) return;
        }
      });
    }
    const left = pending.filter(({ hasFailed }) => !hasFailed);
    const keys = left.map(({ key }) => key);
    await write(left, keys, (await store.read(keys)).values());
    return pending.map(({ result }) => result);
  };
}
/** Undoes an import in items. */
export type UndoWorkItems = ReturnType<typeof createUndoWorkItems>;
