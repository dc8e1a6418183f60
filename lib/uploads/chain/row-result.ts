import type { UndoOutcome } from "../../work-items/undo/plan-undo.ts";
import type { RowOutcome } from "../../work-items/applied-rows.ts";
import { errorOfRow, type RowError } from "../csv/row-reader.ts";
import { type CounterName, noRows } from "../job/counters.ts";
import { FrameWriter, type Row } from "../files/frames.ts";
import { type furtherColumnsOf, resultLine } from "../files/row-list.ts";
import type { ItemFieldName } from "../../work-items/changed-fields.ts";

/** The result of a row: its item's id and its outcome, and the error if it failed for good. */
export interface RowResult {
  /** As in the row; empty if the row has none. */
  readonly externalId: string;
  /** Empty if the row failed. */
  readonly id: string;
  readonly outcome: RowOutcome | UndoOutcome;
  readonly error?: RowError;
  /** JSON of what stays; empty if nothing does. Set by undos only. */
  readonly kept?: string;
  /** What a dry run shows of the row's changes, and for files the fields that change; empty if none does. */
  readonly changes?: string;
  readonly changed?: readonly ItemFieldName[];
}

/** The error of a row that fails for a reason outside its data. */
export const ROW_CANNOT_BE_APPLIED = errorOfRow("invalid", "the row cannot be applied");

/** The result of a row that failed for good. */
export function failedRow(externalId: string, error = ROW_CANNOT_BE_APPLIED): RowResult {
  return { externalId, id: "", outcome: "error", error };
}

/** The counter that a row with an outcome adds to, besides `succeeded`. */
function counterOf(outcome: RowResult["outcome"]): CounterName {
  if (outcome === "error") return "failed";
  return outcome === "dropped" ? "kept" : outcome;
}

/**
 * Counts the rows of a window that have results, and makes their lines for the job's lists.
 * @param toLine makes the line of a failed row
 * @param further the further columns of results
 */
export function countRows(
  rows: readonly Row[],
  ofRows: readonly (RowResult | undefined)[],
  toLine: (row: Row, error: RowError) => string,
  further: ReturnType<typeof furtherColumnsOf>,
) {
  const counters = noRows();
  const changedFields: Record<string, number> = {};
  const failures = new FrameWriter();
  const results = new FrameWriter();
  for (const [index, row] of rows.entries()) {
    const result = ofRows[index];
    if (result === undefined) continue;
    const counter = counterOf(result.outcome);
    counters[counter] += 1;
    if (counter !== "failed") counters.succeeded += 1;
    for (const field of result.changed ?? []) changedFields[field] = (changedFields[field] ?? 0) + 1;
    if (result.error) failures.addText(row.row, toLine(row, result.error));
    results.addText(row.row, resultLine(row, result, further));
  }
  return {
    counters: { ...counters, changed_fields: changedFields },
    failures: failures.bytes(),
    results: results.bytes(),
  };
}
