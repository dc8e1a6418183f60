import * as z from "zod";
import type { Attributes } from "../../aws/attribute-values.ts";
import { decoderOf } from "../../store/decode-record.ts";
import type { RecordWrite } from "../../store/optimistic-write.ts";
import type { StoredRecord } from "../../store/versioned-record.ts";
import {
  afterImport,
  afterWrite,
  beforeEvent,
  type Import,
  NO_LAYERS,
  storedLayersOfMade,
  storedLayersSchema,
  toStoredLayers,
  type Undoable,
  type UndoLayers,
  undoLayersOf,
  withoutLayers,
} from "./layers.ts";
import { EVENT_WRITES, eventWritesOf, workItemFrom } from "../work-item-record.ts";

const decode = decoderOf("undo layers", z.object({ undo: storedLayersSchema }));

/** Dropping layers needs no fields. */
const NOTHING: Undoable = { deleted_at: null };

/** Whether a record has layers. Nearly all that no import has written have none: nothing is parsed for them. */
export function hasLayers(record: Attributes | undefined): record is Attributes & { readonly undo: string } {
  return typeof record?.["undo"] === "string";
}

/** The layers in a record. @param fields the item or event in it @throws MalformedRecordError */
export function layersIn(record: Attributes | undefined, fields: Undoable | null): UndoLayers {
  return hasLayers(record) && fields !== null ? undoLayersOf(decode(record).undo, fields) : NO_LAYERS;
}

/**
 * The attribute with the layers of a record after a write, which belongs into the same write; none if it stays as it is.
 * @param record as it is stored; undefined if the write makes it
 * @param before the item or event in it
 * @param now milliseconds since the epoch
 * @param job the import that writes; undefined for anyone else
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
 * What is written to an item in the same transaction as to one of its events, so that an undo of the import that made or restored
 * the item sees that it is used; undefined for nearly all items.
 * @param owner the item's record
 * @param job the import that writes the event; undefined for anyone else
 * @throws MalformedRecordError
 */
export function writeWithEvent(owner: StoredRecord | undefined, now: number, job?: Import): RecordWrite | undefined {
  if (!hasLayers(owner) || (job && owner["undo"] === storedLayersOfMade(job))) return undefined;
  const item = workItemFrom(owner);
  const undo = layersIn(owner, item);
  const after = beforeEvent(undo, job);
  return item === null || after === undo
    ? undefined
    : {
        record: owner,
        set: { undo: toStoredLayers(after, item, now), [EVENT_WRITES]: eventWritesOf(owner) + 1 },
      };
}
