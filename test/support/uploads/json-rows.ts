import type { RowReader } from "../../../lib/uploads/csv/row-reader.ts";
import type { Row } from "../../../lib/uploads/files/frames.ts";
import type { WorkItemInput } from "../../../lib/work-items/work-item.ts";

/** A row whose only cell is a work item as JSON. */
export function jsonRow(row: number, input: WorkItemInput): Row {
  const text = JSON.stringify(input);
  return { row, text, cells: [text], bytes: text.length };
}

function inputOf([json = ""]: readonly string[]): WorkItemInput {
  return JSON.parse(json) as WorkItemInput;
}

/** Reads such rows. */
export const jsonReader = {
  externalIdOf: (values: readonly string[]) => inputOf(values).external_id,
  read: (values: readonly string[]) => ({ input: inputOf(values) }),
} satisfies Pick<RowReader, "externalIdOf" | "read">;
