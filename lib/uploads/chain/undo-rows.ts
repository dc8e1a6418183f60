import type { Clock } from "../../clock.ts";
import type { JsonValue } from "../../json.ts";
import type { Organization } from "../../organizations/organization.ts";
import { chunksOf } from "../../retry.ts";
import { type KeptField, EXISTENCE, type UndoResult, type UndoWorkItems } from "../../work-items/undo-work-items.ts";
import type { WorkItemInput } from "../../work-items/work-item.ts";
import { cellValue } from "../csv/csv-text.ts";
import { ATTRIBUTE_PREFIX } from "../csv/target.ts";
import type { Row } from "../files/frames.ts";
import type { KeptInRow } from "../files/row-list.ts";
import type { Undone } from "../job/upload-record.ts";
import { type ApplyRowsOptions, ITEMS_AT_ONCE, rowsPending } from "./apply-rows.ts";
import { failedRow, type RowResult } from "./row-result.ts";

/** Options of undoing rows. */
export interface UndoRowsOptions extends Pick<
  ApplyRowsOptions,
  "reader" | "source" | "recognizesOnly" | "deadline" | "guard"
> {
  readonly undone: Undone;
}

/** The value that an input has for a field; null if it has none. */
function valueIn(input: WorkItemInput | undefined, { event, name }: KeptField): JsonValue {
  const of: object | undefined =
    event === undefined ? input : input?.events?.find(({ external_id: id }) => id === event);
  const isAttribute = name.startsWith(ATTRIBUTE_PREFIX);
  const values = isAttribute ? input?.custom_attributes : of;
  const key = isAttribute ? name.slice(ATTRIBUTE_PREFIX.length) : name;
  return values && Object.hasOwn(values, key) ? (values as Record<string, JsonValue>)[key]! : null;
}

/** Why something of an item stays. */
function reasonOf({ outcome, kept }: UndoResult): KeptInRow["reason"] {
  if (outcome !== "partly" && outcome !== "kept") return outcome === "dropped" ? "forgotten" : "";
  if (kept.some(({ event, name }) => event === undefined && name === EXISTENCE)) return "in_use";
  return kept.length > 0 ? "changed" : "forgotten";
}

/** Makes the function that undoes an import in the items of rows, each the item's last row in the import's file. */
export function createUndoRows(undo: UndoWorkItems, clock: Clock) {
  return async (
    organization: Organization,
    rows: readonly Row[],
    options: UndoRowsOptions,
  ): Promise<readonly (RowResult | undefined)[]> => {
    const { reader, source, recognizesOnly = false } = options;
    const results: (RowResult | undefined)[] = [];
    /** JSON of the fields that stay, with what the row has set: `{"status":{"imported":"completed","now":"pending"}}`. */
    const fieldsOf = ({ kept }: UndoResult, values: readonly string[]): string => {
      const reading = reader.read(values);
      const input = "input" in reading ? reading.input : undefined;
      const fields = kept.flatMap((field) => {
        if (field.name === EXISTENCE) return [];
        const name = field.event === undefined ? field.name : `events.${field.event}.${field.name}`;
        return [[name, { imported: valueIn(input, field), now: field.now }] as const];
      });
      return fields.length === 0 ? "" : JSON.stringify(Object.fromEntries(fields));
    };
    for (const group of chunksOf(rows, ITEMS_AT_ONCE)) {
      if (clock() > options.deadline) throw rowsPending();
      const read = group.map((row) => ({ row: row.row, values: row.cells.map(cellValue) }));
      const inputs = read.map(({ row, values }) => ({ row, externalId: reader.externalIdOf(values) }));
      const dryRun = source.dryRun === true || recognizesOnly;
      const undone = await undo(organization, inputs, { ...options, dryRun, hasEvents: options.undone.hasEvents });
      if (undone.some(({ isTemporary }) => isTemporary)) throw rowsPending();
      for (const [place, each] of undone.entries()) {
        const { externalId } = inputs[place]!;
        const { id, outcome, recognized } = each;
        const result: RowResult =
          outcome === "error"
            ? failedRow(externalId)
            : {
                externalId,
                id,
                outcome,
                kept: { reason: reasonOf(each), fields: fieldsOf(each, read[place]!.values) },
              };
        results.push(recognized || !recognizesOnly ? result : undefined);
      }
    }
    return results;
  };
}

/** Undoes the rows of a job. */
export type UndoRows = ReturnType<typeof createUndoRows>;
