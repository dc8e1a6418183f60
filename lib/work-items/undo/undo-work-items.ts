import { paginateQuery } from "@aws-sdk/lib-dynamodb";
import type { RuntimeWith } from "../../aws/runtime.ts";
import type { Organization } from "../../organizations/organization.ts";
import { chunksOf, mapConcurrently } from "../../retry.ts";
import { keyText } from "../../store/batch-get.ts";
import { optimisticWrite, type OptimisticWriteOptions } from "../../store/optimistic-write.ts";
import { createRecordStore } from "../../store/record-store.ts";
import type { RecordKey, StoredRecord } from "../../store/versioned-record.ts";
import { traceOf } from "../../error-trace.ts";
import { findKnownJobs, type RowSource } from "../applied-rows.ts";
import { EVENT_SORT_KEY_PREFIX, eventKeyOf, itemIdOf, itemKeyOf } from "../work-item-record.ts";
import type { Import } from "./layers.ts";
import type { KeptReason, UndoOutcome } from "./plan-undo.ts";
import { hasLayers } from "./undo.ts";
import { doneUndoIn, type KeptField, NO_EFFECT, NOT_COMPLETED, type RecordUndo, targetOfUndo } from "./undo-record.ts";

/** Items whose events are read at the same time. */
const CONCURRENT_ITEMS = 8;
/** Events that are planned and written together. */
const EVENTS_AT_ONCE = 100;
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
  readonly changes: RecordUndo["changes"];
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

/** The records of a row. */
interface RowRecords {
  /** Of the item. */
  readonly id: string;
  readonly item: RecordKey;
  readonly events: readonly RecordKey[];
}

function recordsOf(organization: Organization, { externalId, events }: UndoInput): RowRecords {
  const item = itemKeyOf(organization.id, externalId);
  const id = itemIdOf(item);
  return { id, item, events: events.map((event) => eventKeyOf(organization.id, id, event)) };
}

/** What was done so far. */
interface Progress {
  /** The effects on the records of the rows, by `keyText`. */
  readonly effects: Map<string, RecordUndo>;
  /** Items with a record that couldn't be written, by partition key. */
  readonly failed: Map<string, { readonly isTemporary: boolean }>;
}

function resultOf({ id, item, events }: RowRecords, { effects, failed }: Progress): UndoResult {
  const failure = failed.get(item.pk);
  const nothing = { reason: undefined, kept: [], changes: NO_EFFECT.changes };
  if (failure) return { id, outcome: "error", ...nothing, recognized: false, ...failure };
  const parts = [item, ...events].map((key) => effects.get(keyText(key)) ?? NO_EFFECT);
  return {
    id,
    outcome: combined(parts.map(({ outcome }) => outcome)),
    reason: firstOf(parts.map(({ reason }) => reason)),
    kept: parts.flatMap(({ kept }) => kept),
    changes: parts[0]!.changes,
    recognized: parts.some(({ isDone }) => isDone) && !parts.some(({ isOpen }) => isOpen),
    isTemporary: false,
  };
}

/** Chunks of an item's events that the import has changed. */
async function* changedEvents(
  { dynamodb, environment }: RuntimeWith<"workItems">,
  { pk }: RecordKey,
  undone: Import,
): AsyncGenerator<StoredRecord[]> {
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

/**
 * Makes the function that undoes an import in the items of rows, by `planUndo`. An item with a layer of the import is undone
 * after all of its events with one. Each undo job writes a record with a layer once, with every outcome, and the record
 * remembers what was done. Results are in the order of the inputs.
 * @throws StoreBusyError if nothing could be read, and errors of `guard`
 */
export function createUndoWorkItems(runtime: RuntimeWith<"workItems">) {
  const { clock, log } = runtime;
  const store = createRecordStore(runtime);

  return async (
    organization: Organization,
    inputs: readonly UndoInput[],
    { undone, hasEvents, source, deadline, dryRun, guard }: UndoOptions,
  ): Promise<UndoResult[]> => {
    const rows = inputs.map((input) => recordsOf(organization, input));
    const items = new Map(rows.map(({ item }) => [keyText(item), item]));
    const events = new Map(rows.flatMap((row) => row.events.map((key) => [keyText(key), key] as const)));
    const progress: Progress = { effects: new Map(), failed: new Map() };
    const { effects, failed } = progress;

    const write = async (keys: Iterable<RecordKey>, prefetched: ReadonlyMap<string, StoredRecord>): Promise<void> => {
      const open = [...keys].filter((key) => !effects.has(keyText(key)) && !failed.has(key.pk));
      const jobs = await findKnownJobs(source, prefetched.values());
      const targets = open.map((key) => targetOfUndo(key, { organization, undone, jobs, dryRun, clock }));
      const results = await optimisticWrite(store, targets, { clock, deadline, dryRun, guard, prefetched });
      for (const [index, written] of results.entries()) {
        const key = open[index]!;
        const text = keyText(key);
        if ("result" in written) {
          if (items.has(text) || events.has(text)) effects.set(text, written.result);
          continue;
        }
        const { cause, permanent } = written;
        if (cause !== undefined) log.error("a record cannot be undone", { job: source.job, ...traceOf(cause) });
        failed.set(key.pk, { isTemporary: !permanent });
      }
    };
    const writeEventsOf = async (item: RecordKey): Promise<void> => {
      for await (const some of changedEvents(runtime, item, undone)) {
        await guard?.(false);
        if (clock() > deadline) failed.set(item.pk, { isTemporary: true });
        if (failed.has(item.pk)) return;
        await write(
          some.map(({ pk, sk }) => ({ pk, sk })),
          new Map(some.map((event) => [keyText(event), event])),
        );
      }
    };

    const found = await store.read([...items.values(), ...events.values()]);
    if (hasEvents && !dryRun) {
      const withLayer = [...items.values()].filter((item) => {
        const record = found.get(keyText(item));
        return hasLayers(record) && record["undo"].includes(undone.id) && !doneUndoIn(record, source.job);
      });
      await mapConcurrently(withLayer, CONCURRENT_ITEMS, writeEventsOf);
    }
    await write(events.values(), found);
    await write(items.values(), found);
    return rows.map((row) => resultOf(row, progress));
  };
}
/** Undoes an import in items. */
export type UndoWorkItems = ReturnType<typeof createUndoWorkItems>;
