import { entriesOf } from "work-items-client/pages.ts";
import { ITEM_CSV_HEADER, itemCsvLine } from "@work-items/importer/files/item-csv.ts";
import type { Api, Item, ListPage } from "./api.ts";

/** As many as the service allows. */
const PAGE_ITEMS = 100;

/** All items that match the filters, as CSV. @param onProgress called with the number of items so far, page by page */
export async function exportItems(
  api: Api,
  filters: Readonly<Record<string, string>>,
  onProgress: (items: number) => void,
): Promise<Blob> {
  const lines = [`${ITEM_CSV_HEADER}\n`];
  const items = entriesOf((cursor) =>
    api.get<ListPage<Item>>("v1/work_items", { ...filters, limit: String(PAGE_ITEMS), ...cursor }),
  );
  let count = 0;
  for await (const item of items) {
    lines.push(`${itemCsvLine(item)}\n`);
    count += 1;
    if (count % PAGE_ITEMS === 0) onProgress(count);
  }
  return new Blob(lines, { type: "text/csv" });
}
