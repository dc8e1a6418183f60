import type { RowError, RowReader } from "../../../lib/uploads/csv/row-reader.ts";
import { ATTRIBUTE_PREFIX } from "../../../lib/uploads/csv/target.ts";
import type { EventInput, WorkItemInput } from "../../../lib/work-items/work-item.ts";
import { WORK_ITEM_FIELDS } from "../../../lib/work-items/work-item-fields.ts";
import { newItemOf } from "./resulting-values.ts";
import type { TrialRow } from "./trial-rows.ts";

/** An item's values by field; each custom attribute by its name with a prefix. Fields without a value are left out. */
export type ItemFields = ReadonlyMap<string, unknown>;

/** A row of a trial with its item as the import would leave it. */
export interface ResultingItem extends TrialRow {
  /** Empty if the row fails, or if neither the row nor the stored item is known. */
  readonly fields: ItemFields;
  /** The event that the row saves, if rows are events. */
  readonly event: EventInput | undefined;
  /** Why the row fails. */
  readonly error: RowError | undefined;
}

const ATTRIBUTES = "custom_attributes";

/** The values of an item in the form of inputs. */
function fieldsOf(item: object): Map<string, unknown> {
  const values: Readonly<Record<string, unknown>> = { ...item };
  const own = Object.keys(WORK_ITEM_FIELDS).filter((name) => name !== ATTRIBUTES);
  const attributes = Object.entries((values[ATTRIBUTES] ?? {}) as object);
  return new Map(
    [
      ...own.map((name) => [name, values[name]] as const),
      ...attributes.map(([name, value]) => [ATTRIBUTE_PREFIX + name, value] as const),
    ].filter(([, value]) => value !== null && value !== undefined),
  );
}

/** The stored values with the changes of a row. A change without values has those that the row gives. */
function changed(stored: object, { changes }: TrialRow, input: WorkItemInput | undefined): ItemFields {
  const fields = fieldsOf(stored);
  const given = fieldsOf(input ?? {});
  for (const { field, values } of changes) {
    if (field === ATTRIBUTES) for (const name of input?.remove_attributes ?? []) fields.delete(ATTRIBUTE_PREFIX + name);
    const names =
      field === ATTRIBUTES ? [...given.keys()].filter((name) => name.startsWith(ATTRIBUTE_PREFIX)) : [field];
    for (const name of names) {
      const value = values ? values.to : given.get(name);
      if (value === undefined || value === null) fields.delete(name);
      else fields.set(name, value);
    }
  }
  return fields;
}

/**
 * The items that rows of a trial would leave.
 * @param file how its rows are read, and the cells of these rows by their numbers; undefined without the file
 * @param stored the items that exist now, by their IDs, in the form of inputs
 * @param now ISO 8601 in UTC
 */
export function resultingItems(
  rows: readonly TrialRow[],
  file: { readonly reader: RowReader; readonly cells: ReadonlyMap<number, readonly string[]> } | undefined,
  stored: ReadonlyMap<string, object>,
  now: string,
): ResultingItem[] {
  return rows.map((row): ResultingItem => {
    const cells = file?.cells.get(row.row);
    const nothing = { ...row, fields: new Map(), event: undefined, error: undefined };
    const reading = cells && file?.reader.read(cells);
    if (reading && "error" in reading) return { ...nothing, error: reading.error };
    const event = reading?.input.events?.[0];
    const item = stored.get(row.id);
    if (item) return { ...nothing, event, fields: changed(item, row, reading?.input) };
    const made = cells && file && newItemOf(file.reader, cells, now);
    if (made === undefined) return { ...nothing, event };
    return { ...nothing, event, fields: fieldsOf({ ...made.item, custom_attributes: made.input.custom_attributes }) };
  });
}
