import { inputOf, type WorkItem } from "../../lib/client/client.ts";
import { toCell } from "../../lib/uploads/csv/csv-row.ts";
import { COMMA } from "../../lib/uploads/csv/delimiter.ts";
import { ITEM_FIELD_NAMES } from "../../lib/uploads/csv/target.ts";

/** The header of items as CSV. An upload takes such a file as it is, so that it can be changed and imported again. */
export const ITEM_CSV_HEADER = ITEM_FIELD_NAMES.join(COMMA);

/** The line of an item, without its line end. */
export const itemCsvLine = (item: WorkItem): string => {
  const input = inputOf(item);
  const cells = ITEM_FIELD_NAMES.map((name) => input[name] ?? "");
  return cells.map((cell) => toCell(typeof cell === "string" ? cell : JSON.stringify(cell), COMMA)).join(COMMA);
};
