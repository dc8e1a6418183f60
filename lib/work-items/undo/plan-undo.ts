import { type JsonValue, parseJsonObject } from "../../json.ts";
import { outgrows } from "../plan-apply.ts";
import {
  ATTRIBUTE_PREFIX,
  ATTRIBUTES,
  type Before,
  beforeOf,
  changesOf,
  copyOf,
  DELETED_AT,
  EVENTS,
  fieldsOf,
  type Import,
  isDropped,
  isMaker,
  type Layer,
  strike,
  type Undoable,
  type UndoLayers,
} from "./layers.ts";

/**
 * Why something of a record stays. `changed`: others have changed it since. `in_use`: the import made or restored the record,
 * and others have changed it since; `in_use_by_event`: only its events. `forgotten`: what the import changed isn't known any
 * more. `too_large`: with it, the custom attributes would be too large.
 */
export type KeptReason = "changed" | "in_use" | "in_use_by_event" | "forgotten" | "too_large";

/**
 * What an undo does to a record. `deleted`: the import made it. `undone`: all that the import changed is as it was. `partly`,
 * `kept`: some of it, or all, stays. `dropped`: what it changed, if anything, isn't known any more. `unchanged`: nothing differs.
 */
export type UndoOutcome = "deleted" | "undone" | "partly" | "kept" | "dropped" | "unchanged";

/** The effect of an undo on a record. */
export interface UndoPlan<T> {
  readonly outcome: UndoOutcome;
  readonly next: T;
  /** The layers afterwards, or `undo` itself if the job has none. They must be stored whatever the outcome. */
  readonly undo: UndoLayers;
  /**
   * Fields that the import changed and that stay, with their values. Of a record that it made or restored and that someone else
   * uses: `deleted_at`, and the fields by which they began to use it.
   */
  readonly kept: ReadonlyMap<string, Before>;
  /** Set if something stays. */
  readonly reason: KeptReason | undefined;
}

/** Puts values back as they were, without the rules that derive one from another. */
function putBack<T extends Undoable>(record: T, back: ReadonlyMap<string, Before>, now: string): T {
  const values: Record<string, JsonValue> = { ...record };
  const attributes = new Map<string, JsonValue>(
    Object.entries(parseJsonObject((values[ATTRIBUTES] as string) ?? "{}")),
  );
  let hasAttributes = false;
  for (const [field, [value]] of back) {
    if (field === DELETED_AT) values[field] = record.deleted_at ?? value ?? now;
    else if (!field.startsWith(ATTRIBUTE_PREFIX)) values[field] = value ?? null;
    else {
      const key = field.slice(ATTRIBUTE_PREFIX.length);
      if (value === undefined) attributes.delete(key);
      else attributes.set(key, value);
      hasAttributes = true;
    }
  }
  if (hasAttributes) values[ATTRIBUTES] = JSON.stringify(Object.fromEntries(attributes));
  return values as T;
}

/**
 * Lets custom attributes stay if they would be too large as they were. No import can take them back any more.
 * @param back what goes back; loses those attributes
 * @returns whether there were any
 */
function leaveTooLarge(stored: Undoable, back: Map<string, Before>, layers: readonly Layer[]): boolean {
  const attributesOf = (record: Undoable): string => (record[ATTRIBUTES] as string | undefined) ?? "";
  if (!outgrows(attributesOf(stored), attributesOf(putBack(stored, back, "")))) return false;
  for (const [field, before] of back) {
    if (!field.startsWith(ATTRIBUTE_PREFIX) || before.length === 0) continue;
    back.delete(field);
    strike(layers, field);
  }
  return true;
}

/** The values of some fields of a record, as `kept` has them. */
export function valuesOf(record: Undoable, names: readonly string[]): ReadonlyMap<string, Before> {
  const fields = fieldsOf(record);
  return new Map(names.map((name) => [name, beforeOf(fields, name)]));
}

function reasonOf(
  kept: UndoPlan<Undoable>["kept"],
  isUsedByEvent: boolean,
  isTooLarge: boolean,
): KeptReason | undefined {
  if (kept.size === 0) return undefined;
  if (kept.has(DELETED_AT)) return isUsedByEvent && kept.size === 1 ? "in_use_by_event" : "in_use";
  return isTooLarge ? "too_large" : "changed";
}

/**
 * Plans the undo of an import in a record. What the import set and no one has changed since goes back to what it was.
 * @param now ISO 8601 UTC; the `deleted_at` of a record that the import made
 */
export function planUndo<T extends Undoable>(undo: UndoLayers, stored: T, job: Import, now: string): UndoPlan<T> {
  const layers = copyOf(undo.layers);
  const own = layers.filter((layer) => layer.job === job.id);
  if (own.length === 0) {
    const [outcome, reason] = isDropped(undo, job) ? (["dropped", "forgotten"] as const) : (["unchanged"] as const);
    return { outcome, next: stored, undo, kept: new Map(), reason };
  }
  const changed = new Set(own.flatMap(({ fields }) => Object.keys(fields)));
  const made = layers.findLastIndex((layer) => layer.job === job.id && layer.fields[DELETED_AT]);
  const heir = made < 0 ? undefined : layers.slice(made).find((layer) => layer.job !== job.id);
  const heirsFields = Object.keys(heir?.fields ?? {}).filter((field) => field !== EVENTS);
  const isUsedByEvent = changed.delete(EVENTS) || (heir !== undefined && heirsFields.length === 0);
  if (heir && isMaker(layers[made]!)) {
    // Another import uses the record. It is as if that import had made it.
    for (const layer of own) {
      Object.assign(layer, { job: heir.job, at: heir.at });
      layer.fields = Object.fromEntries(Object.entries(layer.fields).filter(([, before]) => before));
    }
    const kept = valuesOf(stored, [DELETED_AT, ...heirsFields]);
    return {
      outcome: "kept",
      next: stored,
      undo: { ...undo, layers },
      kept,
      reason: reasonOf(kept, isUsedByEvent, false),
    };
  }
  const back = new Map<string, Before>();
  for (const [index, layer] of layers.entries()) {
    if (layer.job !== job.id) continue;
    for (const [field, before] of Object.entries(layer.fields)) {
      if (!before) continue;
      const above =
        layers.slice(index + 1).find(({ fields }) => fields[field]) ?? (field === DELETED_AT ? heir : undefined);
      if (above) above.fields[field] = before;
      else back.set(field, before);
    }
  }
  const isTooLarge = leaveTooLarge(stored, back, layers);
  const next = putBack(stored, back, now);
  const left = fieldsOf(next);
  const kept = new Map<string, Before>();
  for (const field of changed) {
    if (!back.has(field) && (field !== DELETED_AT || next.deleted_at === null)) kept.set(field, beforeOf(left, field));
  }
  const isChanged = changesOf(stored, next).size > 0;
  const isEmpty = [...changesOf(null, next).keys()].every((field) => field === DELETED_AT);
  const isUnmade = back.get(DELETED_AT)?.length === 0;
  const goneOrBack = isUnmade ? "deleted" : "undone";
  return {
    outcome: kept.size === 0 ? (isChanged ? goneOrBack : "unchanged") : isChanged ? "partly" : "kept",
    next,
    undo: {
      layers: layers.filter((layer) => layer.job !== job.id),
      droppedUntil: undo.droppedUntil,
      isUnmade: back.has(DELETED_AT) ? isEmpty && isUnmade : undo.isUnmade,
    },
    kept,
    reason: reasonOf(kept, isUsedByEvent, isTooLarge),
  };
}
