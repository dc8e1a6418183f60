import * as z from "zod";
import { type JsonValue, parseJson } from "../../json.ts";
import { UPLOADS_KEPT_DAYS } from "../../periods.ts";
import { changesOf, DELETED_AT, fieldsOf, type FieldValue, initialValueIn, type Undoable } from "../changed-fields.ts";

/** An import that changes records, or that is undone. */
export interface Import {
  /** Id of the job. */
  readonly id: string;
  /** When the job was created, in milliseconds since the epoch. It never changes: stored layers are compared by it. */
  readonly createdAt: number;
}

/** The earlier value of a field; empty if the field didn't exist. */
export type Before = FieldValue;

/**
 * What an import changed in a record: each field with its earlier value, or null if someone else has changed it since. Each
 * custom attribute is a field, `custom_attributes.<name>`. `deleted_at` is there if the import created the record (then its
 * earlier value is empty) or restored it. `events` is there, as null, if others then began to use the record through one of
 * its events.
 */
export interface Layer {
  job: string;
  at: number;
  fields: Record<string, Before | null>;
}

/** What the record of an item or event keeps so that imports can be undone. */
export interface UndoLayers {
  /** In the order in which they were written, the newest on top. A job may have several. */
  readonly layers: readonly Layer[];
  /** Jobs created until then may have had a layer that was dropped. 0 if none was dropped. */
  readonly droppedUntil: number;
  /** Whether the record is deleted because the import that created it was undone. The next import creates it again. */
  readonly isUnmade: boolean;
}

/** A record that no import has changed. */
export const NO_LAYERS: UndoLayers = { layers: [], droppedUntil: 0, isUnmade: false };

/** The name in a layer that says that others began to use its record through an event. */
export const EVENTS = "events";
/** More would make every write of a nightly imported item more expensive. */
const JOBS_MAX = 3;
/** DynamoDB limits a record to 400 KB. With 256 KiB of custom attributes, this leaves 48 KB for the rest. */
const LAYERS_MAX_BYTES = 96 * 1024;
/** As long as an undo has the chunks of its import. */
const LAYERS_KEPT_MS = UPLOADS_KEPT_DAYS * 86_400_000;

/** A copy of layers that can be changed. */
export function copyOf(layers: readonly Layer[]): Layer[] {
  return layers.map((layer) => ({ ...layer, fields: { ...layer.fields } }));
}

/** The topmost layer that has a field. */
function holderOf(layers: readonly Layer[], field: string): Layer | undefined {
  return layers.findLast(({ fields }) => fields[field]);
}

/** Removes a field from all layers, because someone else has changed it. Its name stays for the report. */
export function strike(layers: readonly Layer[], field: string): void {
  for (const { fields } of layers) if (fields[field]) fields[field] = null;
}

/** Removes what a job has changed from the layers below. The job's values stay, so nothing below can come back. */
function strikeBelow(layers: readonly Layer[], job: string): void {
  for (const [index, layer] of layers.entries()) {
    if (layer.job !== job) continue;
    for (const [field, before] of Object.entries(layer.fields)) if (before) strike(layers.slice(0, index), field);
  }
}

/** Whether the import of a layer created the record. */
export function isMaker({ fields }: Layer): boolean {
  return fields[DELETED_AT]?.length === 0;
}

/**
 * Keeps a record that an import created or restored, because someone else has changed it. A created record stays whole.
 * @param changed the fields that were changed: their names stay for the report
 */
function adopt(layers: Layer[], changed: Iterable<string> = []): void {
  const names = Object.fromEntries([DELETED_AT, ...changed].map((field) => [field, null]));
  const makers = new Set(layers.filter(isMaker).map(({ job }) => job));
  for (const job of makers) strikeBelow(layers, job);
  for (const layer of layers) {
    const isHeld = DELETED_AT in layer.fields;
    if (makers.has(layer.job)) layer.fields = isHeld ? { ...names } : {};
    else if (EVENTS in names && layer.fields[DELETED_AT]) layer.fields[EVENTS] = null;
  }
  strike(layers, DELETED_AT);
}

/**
 * Makes sure that the job has a layer, even an empty one, above the layers of other jobs that created or restored the
 * record. Their undo then finds that the record is in use.
 * @returns whether a layer was missing
 */
function cover(layers: Layer[], { id, createdAt }: Import): boolean {
  const own = layers.findLastIndex(({ job }) => job === id);
  const isMissing = holderOf(layers.slice(own + 1), DELETED_AT) !== undefined;
  if (isMissing) layers.push({ job: id, at: createdAt, fields: {} });
  return isMissing;
}

/** Drops the layers of a job. */
function without({ layers, droppedUntil, isUnmade }: UndoLayers, { job, at }: Layer): UndoLayers {
  const left = copyOf(layers);
  strikeBelow(left, job);
  return { layers: left.filter((layer) => layer.job !== job), droppedUntil: Math.max(droppedUntil, at), isUnmade };
}

/** Whether a job's layers may have been dropped. The job then changes the record like any other writer. */
export function isDropped({ layers, droppedUntil }: UndoLayers, { id, createdAt }: Import): boolean {
  return createdAt <= droppedUntil && layers.every(({ job }) => job !== id);
}

/**
 * The layers after a write that isn't an import's. Imports can no longer take back what it changes. `qa_score` is ignored.
 * @param before null if the write creates the record
 */
export function afterWrite<T extends Undoable>(undo: UndoLayers, before: T | null, next: T): UndoLayers {
  if (undo === NO_LAYERS) return undo;
  const changes = changesOf(before, next);
  if (changes.size === 0) return undo;
  const layers = copyOf(undo.layers);
  for (const field of changes.keys()) strike(layers, field);
  if (next.deleted_at !== null) return { ...undo, layers };
  adopt(layers, changes.keys());
  return { ...undo, layers, isUnmade: false };
}

/**
 * The layers after a write of an import.
 * @param before null if the write creates the record
 */
export function afterImport<T extends Undoable>(undo: UndoLayers, before: T | null, next: T, job: Import): UndoLayers {
  if (isDropped(undo, job)) return afterWrite(undo, before, next);
  const changes = changesOf(before, next);
  if (changes.size === 0) return undo;
  const layers = copyOf(undo.layers);
  for (const [field, { from }] of changes) {
    if (holderOf(layers, field)?.job === job.id) continue;
    if (layers.at(-1)?.job !== job.id) layers.push({ job: job.id, at: job.createdAt, fields: {} });
    layers.at(-1)!.fields[field] = undo.isUnmade && field === DELETED_AT ? [] : from;
  }
  cover(layers, job);
  return { ...undo, layers, isUnmade: false };
}

/**
 * The layers of an item when one of its events changes. If they differ, the item must be written before the event. An undo
 * of the import that created or restored the item then finds that it is in use.
 * @param job the import that changes the event; undefined for other writers
 * @returns `undo` itself if the item needn't be written
 */
export function beforeEvent(undo: UndoLayers, job?: Import): UndoLayers {
  if (!holderOf(undo.layers, DELETED_AT)) return undo;
  const layers = copyOf(undo.layers);
  if (job === undefined || isDropped(undo, job)) adopt(layers, [EVENTS]);
  else if (!cover(layers, job)) return undo;
  return { ...undo, layers };
}

/** Drops all layers, for example because they contain the address of a person who is erased. */
export function withoutLayers(undo: UndoLayers): UndoLayers {
  return undo.layers.reduce(without, undo);
}

/** What the layer that created the record needn't list: every field that differs from a new record below the layers above. */
function impliedBy(layers: readonly Layer[], maker: number, record: Undoable): ReadonlyMap<string, Before> {
  const left = fieldsOf(record);
  for (const { fields } of layers.slice(maker + 1).toReversed()) {
    for (const [field, before] of Object.entries(fields)) {
      if (before === null) continue;
      const [value] = before;
      if (value === undefined) left.delete(field);
      else left.set(field, value);
    }
  }
  left.delete(DELETED_AT);
  const implied = new Map<string, Before>();
  for (const [field, value] of left) {
    const initial = initialValueIn(record, field);
    if (initial[0] !== value) implied.set(field, initial);
  }
  return implied;
}

const json = z.custom<JsonValue>(() => true);
const layerSchema = z.tuple([
  z.string(),
  z.number(),
  z.record(z.string(), z.union([z.null(), z.tuple([]), z.tuple([json])])),
]);
const layersSchema = z.object({
  layers: z.array(layerSchema).default([]),
  dropped_until: z.number().default(0),
  unmade: z.boolean().default(false),
});

/**
 * The attribute of a record that holds its layers: JSON text, so that numbers keep their digits.
 * `{"layers":[["<job id>",<created at>,{"status":["pending"],"agent_name":null}]],"dropped_until":0,"unmade":true}`
 */
export const storedLayersSchema = z
  .string()
  .transform((text, context): unknown => {
    try {
      return parseJson(text);
    } catch {
      context.addIssue({ code: "custom", message: "must be JSON" });
      return z.NEVER;
    }
  })
  .pipe(layersSchema);

/** The layers of a record. @param stored null if it has none */
export function undoLayersOf(stored: z.output<typeof storedLayersSchema> | null, record: Undoable): UndoLayers {
  if (stored === null) return NO_LAYERS;
  const layers = stored.layers.map(([job, at, fields]): Layer => ({ job, at, fields }));
  for (const [index, layer] of layers.entries()) {
    if (isMaker(layer)) layer.fields = { ...Object.fromEntries(impliedBy(layers, index, record)), ...layer.fields };
  }
  return { layers, droppedUntil: stored.dropped_until, isUnmade: stored.unmade };
}

/** The same attribute for a record that an import creates, made without its fields. Nearly all writes of imports use it. */
export function storedLayersOfMade({ id, createdAt }: Import): string {
  return JSON.stringify({ layers: [[id, createdAt, { [DELETED_AT]: [] }]] });
}

/**
 * The attribute that stores the layers of a record. If there are too many or they are too large, those of the lowest job are
 * dropped, so that a record can always be written. Layers of imports that are too old to be undone are dropped too.
 * @param record as it will be stored
 * @param now milliseconds since the epoch
 * @returns null if there is nothing to store
 */
export function toStoredLayers(undo: UndoLayers, record: Undoable, now: number): string | null {
  const { layers, isUnmade } = undo;
  const lowest = layers[0];
  const isForgotten = (at: number): boolean => at < now - LAYERS_KEPT_MS;
  if (lowest && isForgotten(lowest.at)) return toStoredLayers(without(undo, lowest), record, now);
  const droppedUntil = isForgotten(undo.droppedUntil) ? 0 : undo.droppedUntil;
  if (!lowest && droppedUntil === 0 && !isUnmade) return null;
  const stored = layers.map((layer, index) => {
    const implied = isMaker(layer) ? impliedBy(layers, index, record) : undefined;
    const fields = Object.entries(layer.fields).filter(([field]) => !implied?.has(field));
    return [layer.job, layer.at, Object.fromEntries(fields)];
  });
  const text = JSON.stringify({
    ...(lowest && { layers: stored }),
    ...(droppedUntil > 0 && { dropped_until: droppedUntil }),
    ...(isUnmade && { unmade: true }),
  });
  const isTooMuch = new Set(layers.map(({ job }) => job)).size > JOBS_MAX || Buffer.byteLength(text) > LAYERS_MAX_BYTES;
  return lowest && isTooMuch ? toStoredLayers(without(undo, lowest), record, now) : text;
}
