import { toCell } from "./csv-text.ts";
import { COMMA } from "./delimiter.ts";
import { ATTRIBUTE_PREFIX, ITEM_FIELD_NAMES } from "./target.ts";

const ATTRIBUTE = `${ATTRIBUTE_PREFIX}priority`;

/** Cells by their columns: an item with all fields, and one with the fewest. */
const ROWS: readonly Readonly<Record<string, string>>[] = [
  {
    external_id: "example-1",
    agent_email: "ada@example.com",
    agent_name: "Ada",
    agent_external_id: "agent-7",
    type: "ticket",
    status: "completed",
    completed_at: "2026-01-31T09:30:00Z",
    custom_attributes: '{"product": "printer", "minutes": 12}',
    [ATTRIBUTE]: "high",
  },
  { external_id: "example-2" },
];

/** A file to begin with: all columns that a file without mapping may have, and two rows. */
export function templateCsv(): string {
  const columns = [...ITEM_FIELD_NAMES, ATTRIBUTE];
  const lines = ROWS.map((row) => columns.map((column) => toCell(row[column] ?? "", COMMA)));
  return [columns, ...lines].map((cells) => `${cells.join(COMMA)}\n`).join("");
}
