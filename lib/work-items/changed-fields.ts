import { type JsonValue, jsonEquals, parseJsonObject } from "../json.ts";
import { initialFields } from "./field-definition.ts";
import { ATTRIBUTE_PREFIX, EVENT_FIELDS, WORK_ITEM_FIELDS } from "./work-item-fields.ts";

type Values = Readonly<Record<string, JsonValue>>;
/** An item or event. */
export type Undoable = Values & { readonly deleted_at: string | null };

/** The field that says whether a record is deleted. */
export const DELETED_AT = "deleted_at";
/** The field of custom attributes. */
export const ATTRIBUTES = "custom_attributes";
const INITIAL: Values = { ...initialFields(WORK_ITEM_FIELDS), ...initialFields(EVENT_FIELDS) };

/** The value of a field; empty if the field doesn't exist. */
export type FieldValue = readonly [] | readonly [JsonValue];
/** What a write does to a field. */
export interface FieldChange {
  readonly from: FieldValue;
  readonly to: FieldValue;
}

/**
 * A record's values by field. Each custom attribute is a field, `custom_attributes.<name>`.
 * @param withAttributes whether custom attributes are parsed; without, they are left out
 */
export function fieldsOf(record: Undoable, withAttributes = true): Map<string, JsonValue> {
  const fields = new Map<string, JsonValue>([[DELETED_AT, record.deleted_at]]);
  for (const name of Object.keys(INITIAL)) {
    const value = record[name];
    if (value === undefined || (name === ATTRIBUTES && !withAttributes)) continue;
    if (name !== ATTRIBUTES) {
      fields.set(name, value);
      continue;
    }
    for (const [attribute, content] of Object.entries(parseJsonObject(value as string))) {
      fields.set(ATTRIBUTE_PREFIX + attribute, content);
    }
  }
  return fields;
}

/** The same for a new record: what an input without fields would create, without `deleted_at`. */
function initialFieldsOf(record: Undoable): Map<string, JsonValue> {
  return new Map(Object.entries(INITIAL).filter(([name]) => name !== ATTRIBUTES && name in record));
}

/** The value that a field of a new record has. */
export function initialValueIn(record: Undoable, field: string): FieldValue {
  return field !== ATTRIBUTES && field in record && Object.hasOwn(INITIAL, field) ? [INITIAL[field]!] : [];
}

/** The value of a field. */
export function valueIn(fields: ReadonlyMap<string, JsonValue>, field: string): FieldValue {
  const value = fields.get(field);
  return value === undefined ? [] : [value];
}

/** The fields that a write changes. @param before null if it creates the record */
export function changesOf<T extends Undoable>(before: T | null, next: T): Map<string, FieldChange> {
  const withAttributes = before?.[ATTRIBUTES] !== next[ATTRIBUTES];
  const from = before === null ? initialFieldsOf(next) : fieldsOf(before, withAttributes);
  const to = fieldsOf(next, withAttributes);
  const changes = new Map<string, FieldChange>();
  for (const field of new Set([...from.keys(), ...to.keys()])) {
    const old = from.get(field);
    const current = to.get(field);
    if (old === undefined || current === undefined || !jsonEquals(old, current))
      changes.set(field, { from: valueIn(from, field), to: valueIn(to, field) });
  }
  return changes;
}

/** Name of a field of items that callers set. */
export type ItemFieldName = keyof typeof WORK_ITEM_FIELDS;
const SETTABLE_FIELDS = Object.keys(WORK_ITEM_FIELDS) as ItemFieldName[];

/** What a row of a dry run changes in its item. */
export interface RowChanges {
  /** In the order of the table. All custom attributes are one field. */
  readonly fields: readonly ItemFieldName[];
  /** The same with values, each attribute by itself; undefined if the row was recognized. */
  readonly values?: ReadonlyMap<string, FieldChange>;
}
/** Those of a row that changes nothing, or whose changes aren't shown. */
export const NO_CHANGES: RowChanges = { fields: [] };

/** The changes of a row's item, without `deleted_at`: the row's outcome says whether it restores the item. */
export function rowChangesOf<T extends Undoable>(before: T, next: T): RowChanges {
  const values = changesOf(before, next);
  values.delete(DELETED_AT);
  const names = new Set(Array.from(values.keys(), (name) => (name.startsWith(ATTRIBUTE_PREFIX) ? ATTRIBUTES : name)));
  return { fields: SETTABLE_FIELDS.filter((name) => names.has(name)), values };
}
