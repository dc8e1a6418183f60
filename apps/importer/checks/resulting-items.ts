import { jsonEquals, type JsonValue, parseJsonObject } from "@work-items/lib/json.ts";
import type { RowError, RowReader } from "@work-items/lib/uploads/csv/row-reader.ts";
import { ATTRIBUTE_PREFIX } from "@work-items/lib/uploads/csv/target.ts";
import type { EventInput, WorkItem, WorkItemInput } from "@work-items/lib/work-items/work-item.ts";
import { WORK_ITEM_FIELDS } from "@work-items/lib/work-items/work-item-fields.ts";
import { planApply } from "@work-items/lib/work-items/plan-apply.ts";
import { type Client, inputOf } from "work-items-client/client.ts";
import type { RowObserver } from "../files/whole-file.ts";
import type { FileRow } from "../ids/repeated-ids.ts";
import { newItemOf } from "./resulting-values.ts";
import type { FieldChange, TrialRow } from "./trial-rows.ts";

/** An item's values by field; each custom attribute by its name with a prefix. Fields without a value are left out. */
type ItemFields = ReadonlyMap<string, unknown>;

/** A row of a trial with its item as the import would leave it. */
export interface ResultingItem extends TrialRow {
  /** Of a new item; empty if the row creates none, or isn't known. */
  readonly fields: ItemFields;
  /** The event that the row saves, if rows are events. */
  readonly event: EventInput | undefined;
  /** Why the row fails. */
  readonly error: RowError | undefined;
}

/** An item in the form of inputs. */
interface StoredItem {
  readonly external_id: string;
  readonly custom_attributes?: object | undefined;
}

const ATTRIBUTES = "custom_attributes";

/** The values of an item in the form of inputs. */
function fieldsOf(item: object): Map<string, unknown> {
  const values: Readonly<Record<string, unknown>> = { ...item };
  const own = Object.keys(WORK_ITEM_FIELDS).filter((name) => name !== ATTRIBUTES);
  const attributes = Object.entries(values[ATTRIBUTES] ?? {});
  return new Map(
    [
      ...own.map((name) => [name, values[name]] as const),
      ...attributes.map(([name, value]) => [ATTRIBUTE_PREFIX + name, value] as const),
    ].filter(([, value]) => value !== null && value !== undefined),
  );
}

/** A stored item after a row, as the service merges it; undefined if it can't be. @param now ISO 8601 in UTC */
function mergedFields(stored: StoredItem, input: WorkItemInput, now: string): ItemFields | undefined {
  const { custom_attributes: attributes = {}, ...others } = stored;
  const own = { created_at: now, updated_at: now, deleted_at: null, qa_score: null };
  const item = { ...others, ...own, custom_attributes: JSON.stringify(attributes) } as WorkItem;
  const plan = planApply(item, input.external_id, input, now);
  if (plan.outcome === "error") return undefined;
  return fieldsOf({ ...plan.next, custom_attributes: parseJsonObject(plan.next.custom_attributes) });
}

/** The changes of a row, each with its values if they are known. @param after the fields after it, if they are known */
function valuedChanges({ changes }: TrialRow, before: ItemFields, after: ItemFields | undefined): FieldChange[] {
  const valueIn = (fields: ItemFields, field: string): JsonValue => (fields.get(field) ?? null) as JsonValue;
  return changes.flatMap(({ field, values }): FieldChange[] => {
    if (values || after === undefined) return [{ field, ...(values && { values }) }];
    const names =
      field === ATTRIBUTES
        ? [...new Set([...before.keys(), ...after.keys()])].filter((name) => name.startsWith(ATTRIBUTE_PREFIX))
        : [field];
    return names
      .map((name) => ({ field: name, values: { from: valueIn(before, name), to: valueIn(after, name) } }))
      .filter((change) => !jsonEquals(change.values.from, change.values.to));
  });
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
  stored: ReadonlyMap<string, StoredItem>,
  now: string,
): ResultingItem[] {
  return rows.map((row): ResultingItem => {
    const cells = file?.cells.get(row.row);
    const nothing = { ...row, fields: new Map(), event: undefined, error: undefined };
    const reading = cells && file?.reader.read(cells);
    if (reading && "error" in reading) return { ...nothing, error: reading.error };
    const event = reading?.input.events?.[0];
    const item = stored.get(row.id);
    if (item) {
      const after = reading && mergedFields(item, reading.input, now);
      return { ...nothing, event, changes: valuedChanges(row, fieldsOf(item), after) };
    }
    const made = cells && file && newItemOf(file.reader, cells, now);
    if (made === undefined) return { ...nothing, event };
    return { ...nothing, event, fields: fieldsOf({ ...made.item, custom_attributes: made.input.custom_attributes }) };
  });
}

/** A file whose rows were tried. */
export interface TriedFile {
  readonly reader: RowReader;
  /** Shows its rows to an observer, as `observeRows` does. */
  readonly read: (observer: RowObserver) => Promise<unknown>;
}

/** Reads the cells of some rows of a file, up to the last of them. */
export async function readCells(
  read: TriedFile["read"],
  rows: readonly number[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const found = new Map<number, readonly string[]>();
  const wanted = new Set(rows);
  const last = Math.max(...rows);
  const observe = ({ row, cells }: FileRow): boolean => {
    if (wanted.has(row)) found.set(row, cells);
    return row < last;
  };
  if (rows.length > 0) await read({ observe });
  return found;
}

/**
 * Reads the rows of a trial in their file, and the items that exist.
 * @param file undefined without the file; then only items that exist are known
 */
export async function readResultingItems(
  { workItems }: Pick<Client, "workItems">,
  rows: readonly TrialRow[],
  file: TriedFile | undefined,
): Promise<ResultingItem[]> {
  const ids = [...new Set(rows.flatMap(({ id, outcome }) => (outcome === "created" || id === "" ? [] : [id])))];
  const found = ids.length === 0 ? [] : await Array.fromAsync(workItems.getMany({ ids }));
  const stored = new Map(found.flatMap(({ data }) => (data ? [[data.id, inputOf(data)] as const] : [])));
  const numbers = rows.map(({ row }) => row);
  const cells = file && { reader: file.reader, cells: await readCells(file.read, numbers) };
  return resultingItems(rows, cells, stored, new Date().toISOString());
}
