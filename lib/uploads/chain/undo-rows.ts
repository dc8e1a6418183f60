import { type Clock, isoTime } from "../../clock.ts";
import type { JsonValue } from "../../json.ts";
import type { Organization } from "../../organizations/organization.ts";
import { planApply } from "../../work-items/plan-apply.ts";
import type { KeptField } from "../../work-items/undo/undo-record.ts";
import type { UndoResult, UndoWorkItems } from "../../work-items/undo/undo-work-items.ts";
import type { WorkItemInput } from "../../work-items/work-item.ts";
import { ATTRIBUTE_PREFIX } from "../csv/target.ts";
import type { Row } from "../files/frames.ts";
import { changesCell, NAMES_MAX_BYTES } from "../files/changes-cell.ts";
import { VALUE_MAX_CHARACTERS } from "../files/row-list.ts";
import type { Undone } from "../job/upload-record.ts";
import { type ApplyRowsOptions, groupsOf, ITEMS_AT_ONCE, readSafely, rowsPending } from "./apply-rows.ts";
import { failedRow, type RowResult } from "./row-result.ts";

/** Options of undoing rows. */
export interface UndoRowsOptions extends ApplyRowsOptions {
  readonly undone: Undone;
}

/** Some time of completion, for an item that is only planned on. */
const ANY_TIME = isoTime(0);

/** A field of an item or event. */
type FieldOf = Pick<KeptField, "event" | "name">;
const STATUS: FieldOf = { event: undefined, name: "status" };

/** The value that a row set; null if it cleared the field, undefined if it did neither. `completed_at` may set `status` too. */
function valueSetBy(input: WorkItemInput | undefined, { event, name }: FieldOf): JsonValue | undefined {
  if (input === undefined) return undefined;
  const isAttribute = name.startsWith(ATTRIBUTE_PREFIX);
  const valuesOfItem = isAttribute ? input.custom_attributes : input;
  const values: object | undefined =
    event === undefined ? valuesOfItem : input.events?.find(({ external_id: id }) => id === event);
  const key = isAttribute ? name.slice(ATTRIBUTE_PREFIX.length) : name;
  if (isAttribute && input.remove_attributes?.includes(key)) return null;
  if (values && Object.hasOwn(values, key)) return (values as Record<string, JsonValue>)[key];
  if (event !== undefined || name !== "status" || input.completed_at === undefined) return undefined;
  // Without a time a completed item is in progress again; with one it is completed.
  const completed = planApply(null, input.external_id, { completed_at: ANY_TIME }, ANY_TIME);
  if (completed.outcome === "error") return undefined;
  const plan = planApply(completed.next, input.external_id, input, ANY_TIME);
  return plan.outcome === "error" ? undefined : plan.next.status;
}

/** A value as results show it. Long ones are cut, because each of many rows may repeat them. */
function shown(value: JsonValue): JsonValue {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > VALUE_MAX_CHARACTERS ? `${text.slice(0, VALUE_MAX_CHARACTERS)}…` : value;
}

/**
 * What stays of a row, with the fields that it set, as JSON:
 * `{"reason":"changed","fields":{"status":{"imported":"completed","now":"pending"}}}`. Empty if nothing stays. The completion
 * date of an item that isn't completed any more has its `status`, and no `imported` if the row only set the status.
 */
function keptJson({ reason, kept }: UndoResult, input: WorkItemInput | undefined): string {
  if (reason === undefined) return "";
  const fields = kept.flatMap((field) => {
    const imported = valueSetBy(input, field);
    const { event, status } = field;
    // The row made the item completed, and someone has dated that.
    const isDatedSince = imported === undefined && status !== undefined && valueSetBy(input, STATUS) !== undefined;
    if (imported === undefined && !isDatedSince) return [];
    const values = { ...(imported !== undefined && { imported: shown(imported) }), now: shown(field.now) };
    const name = event === undefined ? field.name : `events.${event}.${field.name}`;
    return [[name, { ...values, ...(status !== undefined && { status }) }] as const];
  });
  return JSON.stringify({ reason, fields: Object.fromEntries(fields) });
}

/** Makes the function that undoes an import in the items of its rows. */
export function createUndoRows(undo: UndoWorkItems, clock: Clock) {
  return async (
    organization: Organization,
    rows: readonly Row[],
    options: UndoRowsOptions,
  ): Promise<readonly (RowResult | undefined)[]> => {
    const { reader, source, undone, recognizesOnly = false } = options;
    const results: (RowResult | undefined)[] = [];
    const ids = rows.map(({ values }) => reader.externalIdOf(values));
    for (const [index, externalId] of ids.entries()) {
      if (externalId === "" && !recognizesOnly) results[index] = { externalId, id: "", outcome: "unchanged", kept: "" };
    }
    const named = [...rows.keys()].filter((index) => ids[index] !== "");
    const dryRun = source.dryRun === true || recognizesOnly;
    const groups = groupsOf(
      named.map((index) => ids[index]!),
      ITEMS_AT_ONCE,
    );
    for (const group of groups) {
      if (clock() > options.deadline) throw rowsPending();
      const read = group.map((number) => {
        const index = named[number]!;
        const reading = readSafely(rows[index]!, options);
        return { index, externalId: ids[index]!, input: "input" in reading ? reading.input : undefined };
      });
      const inputs = read.map(({ externalId, input }) => ({
        externalId,
        events: input?.events?.map(({ external_id: id }) => id) ?? [],
      }));
      const undos = await undo(organization, inputs, { ...options, dryRun, hasEvents: undone.hasEvents });
      if (undos.some(({ isTemporary }) => isTemporary)) throw rowsPending();
      for (const [number, { index, externalId, input }] of read.entries()) {
        const result = undos[number]!;
        if (recognizesOnly && !result.recognized) continue;
        const { id, outcome } = result;
        // Nothing else has the values that would go back.
        const changes = changesCell(result.changes, NAMES_MAX_BYTES);
        results[index] =
          outcome === "error"
            ? failedRow(externalId)
            : { externalId, id, outcome, kept: keptJson(result, input), changes };
      }
    }
    return results;
  };
}

/** Undoes the rows of a job. */
export type UndoRows = ReturnType<typeof createUndoRows>;
