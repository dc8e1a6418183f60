import { type JsonValue, parseJsonObject } from "../../json.ts";
import { outgrows } from "../plan-apply.ts";
import { ATTRIBUTE_PREFIX } from "../work-item-fields.ts";
import { ATTRIBUTES, changesOf, DELETED_AT, fieldsOf, type Undoable, valueIn } from "../changed-fields.ts";
import {
  type Before,
  copyOf,
  EVENTS,
  type Import,
  isDropped,
  isMaker,
  type Layer,
  strike,
  type UndoLayers,
} from "./layers.ts";

/**
 * Why something in a record stays. `changed`: others have changed it since. `in_use`: the import created or restored the
 * record, and others have changed it since; `in_use_by_event`: they changed only its events. `forgotten`: what the import
 * changed is no longer known. `too_large`: put back, the custom attributes would be too large. `not_completed`: all of it went
 * back, but the item then has a completion date and isn't completed.
 */
export type KeptReason = "changed" | "in_use" | "in_use_by_event" | "forgotten" | "too_large" | "not_completed";

/**
 * What an undo does to a record. `deleted`: the import created it. `undone`: everything that the import changed is as it was.
 * `partly`, `kept`: some or all of it stays. `dropped`: what it changed, if anything, is no longer known.
 */
export type UndoOutcome = "deleted" | "undone" | "partly" | "kept" | "dropped" | "unchanged";

/** The effect of an undo on a record. */
export interface UndoPlan<T> {
  readonly outcome: UndoOutcome;
  readonly next: T;
  /** The layers afterwards, or `undo` itself if the job has none. They must be stored with every outcome. */
  readonly undo: UndoLayers;
  /**
   * Fields that the import changed and that stay, with their values. If it created or restored a record that others now use:
   * `deleted_at`, and the fields that they changed.
   */
  readonly kept: ReadonlyMap<string, Before>;
  /** Set if something stays. */
  readonly reason: KeptReason | undefined;
}

/** Puts earlier values back, without the rules that derive one field from another. */
function putBack<T extends Undoable>(record: T, back: ReadonlyMap<string, Before>, now: string): T {
  const values: Record<string, JsonValue> = { ...record };
  const ofAttributes: [name: string, value: JsonValue | undefined][] = [];
  for (const [field, [value]] of back) {
    if (field === DELETED_AT) values[field] = record.deleted_at ?? value ?? now;
    else if (!field.startsWith(ATTRIBUTE_PREFIX)) values[field] = value ?? null;
    else ofAttributes.push([field.slice(ATTRIBUTE_PREFIX.length), value]);
  }
  if (ofAttributes.length === 0) return values as T;
  const attributes = new Map(Object.entries(parseJsonObject((values[ATTRIBUTES] as string) ?? "{}")));
  for (const [name, value] of ofAttributes) {
    if (value === undefined) attributes.delete(name);
    else attributes.set(name, value);
  }
  values[ATTRIBUTES] = JSON.stringify(Object.fromEntries(attributes));
  return values as T;
}

/**
 * Keeps custom attributes if they would be too large once they are put back. No import can take them back later.
 * @param back the earlier values to put back; these attributes are removed from it
 * @returns whether they would be too large
 */
function keepTooLarge(stored: Undoable, back: Map<string, Before>, layers: readonly Layer[]): boolean {
  const attributesOf = (record: Undoable): string => (record[ATTRIBUTES] as string | undefined) ?? "";
  if (!outgrows(attributesOf(stored), attributesOf(putBack(stored, back, "")))) return false;
  for (const [field, before] of back) {
    if (!field.startsWith(ATTRIBUTE_PREFIX) || before.length === 0) continue;
    back.delete(field);
    strike(layers, field);
  }
  return true;
}

/** The values of some fields of a record, in the form of `kept`. */
export function valuesOf(record: Undoable, names: readonly string[]): ReadonlyMap<string, Before> {
  const fields = fieldsOf(record);
  return new Map(names.map((name) => [name, valueIn(fields, name)]));
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

function outcomeOf(isChanged: boolean, isKept: boolean, isUnmade: boolean): UndoOutcome {
  if (!isChanged) return isKept ? "kept" : "unchanged";
  if (isKept) return "partly";
  return isUnmade ? "deleted" : "undone";
}

/**
 * Plans the undo of an import in a record. What the import set gets its earlier value, unless someone has changed it since.
 * @param now ISO 8601 in UTC; the `deleted_at` of a record that the import created
 */
export function planUndo<T extends Undoable>(undo: UndoLayers, stored: T, job: Import, now: string): UndoPlan<T> {
  const layers = copyOf(undo.layers);
  const own = layers.filter((layer) => layer.job === job.id);
  if (own.length === 0) {
    const same = { next: stored, undo, kept: new Map<string, Before>() };
    if (isDropped(undo, job)) return { ...same, outcome: "dropped", reason: "forgotten" };
    return { ...same, outcome: "unchanged", reason: undefined };
  }
  const changed = new Set(own.flatMap(({ fields }) => Object.keys(fields)));
  const made = layers.findLastIndex((layer) => layer.job === job.id && layer.fields[DELETED_AT]);
  const heir = made < 0 ? undefined : layers.slice(made).find((layer) => layer.job !== job.id);
  const heirsFields = Object.keys(heir?.fields ?? {}).filter((field) => field !== EVENTS);
  const isUsedByEvent = changed.delete(EVENTS) || (heir !== undefined && heirsFields.length === 0);
  if (heir && isMaker(layers[made]!)) {
    // Another import uses the record. From now on, it counts as created by that import.
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
  const isTooLarge = keepTooLarge(stored, back, layers);
  const next = putBack(stored, back, now);
  const left = fieldsOf(next);
  const kept = new Map<string, Before>();
  for (const field of changed) {
    if (!back.has(field) && (field !== DELETED_AT || next.deleted_at === null)) kept.set(field, valueIn(left, field));
  }
  const isChanged = changesOf(stored, next).size > 0;
  const isUnmade = back.get(DELETED_AT)?.length === 0;
  const isEmpty = isUnmade && [...changesOf(null, next).keys()].every((field) => field === DELETED_AT);
  return {
    outcome: outcomeOf(isChanged, kept.size > 0, isUnmade),
    next,
    undo: {
      layers: layers.filter((layer) => layer.job !== job.id),
      droppedUntil: undo.droppedUntil,
      isUnmade: back.has(DELETED_AT) ? isEmpty : undo.isUnmade,
    },
    kept,
    reason: reasonOf(kept, isUsedByEvent, isTooLarge),
  };
}
