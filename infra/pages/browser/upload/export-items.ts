import { toCell } from "../../../../lib/uploads/csv/csv-row.ts";
import { COMMA } from "../../../../lib/uploads/csv/delimiter.ts";
import type { Api, Item, ListPage } from "./api.ts";

/** The columns are those of an upload, so that the file can be changed and imported again. */
const COLUMNS: readonly (readonly [string, (item: Item) => string])[] = [
  ["external_id", ({ external_id }) => external_id],
  ["agent_email", ({ agent }) => agent.email ?? ""],
  ["agent_name", ({ agent }) => agent.name ?? ""],
  ["agent_external_id", ({ agent }) => agent.external_id ?? ""],
  ["type", ({ type }) => type],
  ["status", ({ status }) => status],
  ["completed_at", ({ completed_at: time }) => time ?? ""],
  ["custom_attributes", ({ custom_attributes: attributes }) => JSON.stringify(attributes)],
];

const lineOf = (cells: readonly string[]): string => `${cells.map((cell) => toCell(cell, COMMA)).join(COMMA)}\n`;

/** All items that match the filters, as CSV. @param onProgress called with the number of items so far */
export const exportItems = async (
  api: Api,
  filters: Readonly<Record<string, string>>,
  onProgress: (items: number) => void,
): Promise<Blob> => {
  const parts = [lineOf(COLUMNS.map(([name]) => name))];
  let items = 0;
  let cursor: string | undefined = "";
  while (cursor !== undefined) {
    const { data, meta }: ListPage<Item> = await api.get<ListPage<Item>>("v1/work_items", {
      ...filters,
      limit: "100",
      cursor,
    });
    parts.push(data.map((item) => lineOf(COLUMNS.map(([, cellOf]) => cellOf(item)))).join(""));
    items += data.length;
    onProgress(items);
    cursor = meta.page.next;
  }
  return new Blob(parts, { type: "text/csv" });
};
