import * as z from "zod";
import type { Attributes } from "../../aws/attribute-values.ts";
import { decoderOf } from "../../store/decode-record.ts";
import type { RecordWrite } from "../../store/optimistic-write.ts";
import type { StoredRecord } from "../../store/versioned-record.ts";
import type { Undoable } from "../changed-fields.ts";
import {
  afterImport,
  afterWrite,
  beforeEvent,
  type Import,
  NO_LAYERS,
  storedLayersOfMade,
  storedLayersSchema,
  toStoredLayers,
  type UndoLayers,
  undoLayersOf,
  withoutLayers,
} from "./layers.ts";
import { EVENT_WRITES, eventWritesOf, workItemFrom } from "../work-item-record.ts";

const decode = decoderOf("undo layers", z.object({ undo: storedLayersSchema }));

/** A record to drop layers from, for which its fields don't matter. */
const NOTHING: Undoable = { deleted_at: null };

/** Whether a record has layers. Checked first, so that nothing is parsed for the many records without. */
export function hasLayers(record: Attributes | undefined): record is Attributes & { readonly undo: string } {
  return typeof record?.["undo"] === "string";
}

/** The layers in a record. @param fields the item or event in it @throws MalformedRecordError */
export function layersIn(record: Attributes | undefined, fields: Undoable | null): UndoLayers {
  return hasLayers(record) && fields !== null ? undoLayersOf(decode(record).undo, fields) : NO_LAYERS;
}

/**
 * The attribute with the layers of a record after a write, to be included in that write; none if it doesn't change.
 * @param record as it is stored; undefined if the write creates it
 * @param before the item or event in it
 * @param now milliseconds since the epoch
 * @param job the import that writes; undefined for other writers
 * @throws MalformedRecordError
 */
export function layersAfter<T extends Undoable>(
  record: Attributes | undefined,
  before: T | null,
  next: T,
  now: number,
  job?: Import,
): Attributes {
  if (before === null) return job === undefined ? {} : { undo: storedLayersOfMade(job) };
  const undo = layersIn(record, before);
  const after = job === undefined ? afterWrite(undo, before, next) : afterImport(undo, before, next, job);
  return after === undo ? {} : { undo: toStoredLayers(after, next, now) };
}

/** The attribute of a record that loses all its layers; none if it has none. @throws MalformedRecordError */
export function layersDropped(record: Attributes | undefined, now: number): Attributes {
  const undo = layersIn(record, NOTHING);
  return undo === NO_LAYERS ? {} : { undo: toStoredLayers(withoutLayers(undo), NOTHING, now) };
}

/**
 * The write of an item in the same transaction as that of one of its events; undefined for nearly all items. With it, an undo
 * of the import that created or restored the item finds that it is in use.
 * @param owner the item's record
 * @param job the import that writes the event; undefined for other writers
 * @throws MalformedRecordError
 */
export function writeWithEvent(owner: StoredRecord | undefined, now: number, job?: Import): RecordWrite | undefined {
  if (!hasLayers(owner) || (job && owner["undo"] === storedLayersOfMade(job))) return undefined;
  const item = workItemFrom(owner);
  const undo = layersIn(owner, item);
  const after = beforeEvent(undo, job);
  if (item === null || after === undo) return undefined;
  const set = { undo: toStoredLayers(after, item, now), [EVENT_WRITES]: eventWritesOf(owner) + 1 };
  return { record: owner, set };
}
