import { entriesOf } from "../../../../lib/client/pages.ts";
import { ITEM_CSV_HEADER, itemCsvLine } from "../../../import-files/item-csv.ts";
import type { Api, Item, ListPage } from "./api.ts";

/** All items that match the filters, as CSV. @param onProgress called with the number of items so far */
export const exportItems = async (
  api: Api,
  filters: Readonly<Record<string, string>>,
  onProgress: (items: number) => void,
): Promise<Blob> => {
  const lines = [`${ITEM_CSV_HEADER}\n`];
  const items = entriesOf((cursor) =>
    api.get<ListPage<Item>>("v1/work_items", { ...filters, limit: "100", ...cursor }),
  );
  for await (const item of items) onProgress(lines.push(`${itemCsvLine(item)}\n`) - 1);
  return new Blob(lines, { type: "text/csv" });
};
