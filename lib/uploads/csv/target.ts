import type { DecimalMark } from "../../cell-value.ts";
import { type Field, isNullable } from "../../work-items/field-definition.ts";
import { ATTRIBUTE_PREFIX, EVENT_FIELDS, WORK_ITEM_FIELDS } from "../../work-items/work-item-fields.ts";

export { ATTRIBUTE_PREFIX };

type ItemTargetName = "external_id" | keyof typeof WORK_ITEM_FIELDS;
type EventFieldName = "external_id" | keyof typeof EVENT_FIELDS;

/** What a cell sets: a field or a custom attribute of the row's item, or a field of the row's event. */
export type Target =
  | { readonly kind: "field"; readonly name: ItemTargetName }
  | { readonly kind: "attribute"; readonly name: string }
  | { readonly kind: "event"; readonly name: EventFieldName };

/** Names of an item's fields, and of the columns of a file without mapping. */
export const ITEM_FIELD_NAMES = ["external_id", ...Object.keys(WORK_ITEM_FIELDS)] as readonly ItemTargetName[];
/** Names of an event's fields. */
export const EVENT_FIELD_NAMES = ["external_id", ...Object.keys(EVENT_FIELDS)] as readonly EventFieldName[];

/** The target with the name of a column, such as `custom_attributes.team`; undefined if there is none. */
export function itemTarget(name: string): Target | undefined {
  if (name.startsWith(ATTRIBUTE_PREFIX)) {
    const attribute = name.slice(ATTRIBUTE_PREFIX.length);
    return attribute === "" || attribute === "__proto__" ? undefined : { kind: "attribute", name: attribute };
  }
  const field = ITEM_FIELD_NAMES.find((candidate) => candidate === name);
  return field && { kind: "field", name: field };
}

/** The target with the name of an event's field; undefined if there is none. */
export function eventTarget(name: string): Target | undefined {
  const field = EVENT_FIELD_NAMES.find((candidate) => candidate === name);
  return field && { kind: "event", name: field };
}

/** The field of a target; undefined for ids and single custom attributes, which are texts unless the mapping says otherwise. */
export function fieldOf(target: Target): Field | undefined {
  if (target.kind === "attribute" || target.name === "external_id") return undefined;
  return target.kind === "event" ? EVENT_FIELDS[target.name] : WORK_ITEM_FIELDS[target.name];
}

/** Whether a target can be cleared. */
export function isClearable(target: Target): boolean {
  const field = fieldOf(target);
  return field === undefined ? target.kind === "attribute" : isNullable(field);
}

/** Whether a target holds a date-time. */
export function isTime(target: Target): boolean {
  return fieldOf(target)?.kind.name === "time";
}

/** Converts a cell to the input of a target. @throws Error that says what the cell must be */
export function readCell(target: Target, cell: string, decimal: DecimalMark = "."): unknown {
  const { fromCell } = fieldOf(target)?.kind ?? {};
  return fromCell === undefined ? cell : fromCell(cell, decimal);
}
