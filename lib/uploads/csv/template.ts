import { toCell } from "./csv-text.ts";
import { COMMA } from "./delimiter.ts";
import { sampleCells } from "../../work-items/field-definition.ts";
import { WORK_ITEM_FIELDS } from "../../work-items/work-item-fields.ts";
import { ATTRIBUTE_PREFIX, ITEM_FIELD_NAMES } from "./target.ts";

const ATTRIBUTE = `${ATTRIBUTE_PREFIX}priority`;

/** Cells by column: an item with all fields, and one with the fewest. */
const ROWS: readonly Readonly<Record<string, string>>[] = [
  { external_id: "example-1", ...sampleCells(WORK_ITEM_FIELDS), [ATTRIBUTE]: "high" },
  { external_id: "example-2" },
];

/** The template: all columns that a file without mapping may have, and two rows. */
export function templateCsv(): string {
  const columns = [...ITEM_FIELD_NAMES, ATTRIBUTE];
  const lines = ROWS.map((row) => columns.map((column) => toCell(row[column] ?? "", COMMA)));
  return [columns, ...lines].map((cells) => `${cells.join(COMMA)}\n`).join("");
}
