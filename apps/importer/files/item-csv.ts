import { inputOf, type WorkItem } from "work-items-client/client.ts";
import { toCell } from "@work-items/lib/uploads/csv/csv-text.ts";
import { COMMA } from "@work-items/lib/uploads/csv/delimiter.ts";
import { BYTE_ORDER_MARK } from "@work-items/lib/uploads/csv/header-names.ts";
import { ITEM_FIELD_NAMES } from "@work-items/lib/uploads/csv/target.ts";
import { withPrefix } from "./cell-values.ts";

/** The header of items as CSV. Its byte order mark shows spreadsheets that it is UTF-8. */
export const ITEM_CSV_HEADER = BYTE_ORDER_MARK + ITEM_FIELD_NAMES.join(COMMA);

/** The command's option for a filter of the list. */
export function filterOption(name: string): string {
  return `--${name.replaceAll("_", "-")}`;
}

/** An item as a line without its end. Cells that a spreadsheet would run as formulas have a prefix. */
export function itemCsvLine(item: WorkItem): string {
  const input = inputOf(item);
  const cells = ITEM_FIELD_NAMES.map((name) => input[name] ?? "");
  return cells
    .map((cell) => toCell(withPrefix(typeof cell === "string" ? cell : JSON.stringify(cell)), COMMA))
    .join(COMMA);
}
