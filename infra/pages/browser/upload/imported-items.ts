import { observeRows } from "@work-items/importer/files/whole-file.ts";
import { useEffect, useState } from "preact/hooks";
import { COMMA } from "../../../../lib/uploads/csv/delimiter.ts";
import type { Api, Item } from "./api.ts";
import { sentenceOf } from "./shown.ts";
import type { LoadedList } from "./use-list.ts";

/** So much of an import's results is read: some 300,000 rows. */
const RESULTS_MAX_BYTES = 24 * 1024 * 1024;
const PAGE_ITEMS = 50;

/** The IDs of the items that an import wrote or found unchanged, each once. Results are row, external_id, id, outcome. */
async function readIds(api: Api, jobId: string): Promise<string[]> {
  const path = `v1/work_items/upload/${encodeURIComponent(jobId)}/results`;
  const { data } = await api.get<{ readonly data: { readonly url: string | null } }>(path);
  const response = data.url === null ? undefined : await fetch(data.url);
  if (response === undefined) return [];
  if (!response.ok || response.body === null) throw new Error("The results can’t be loaded. Open this import again.");
  const ids = new Set<string>();
  const options = { delimiter: COMMA, headerRow: 1, bytesMax: RESULTS_MAX_BYTES };
  await observeRows(response.body, options, () => [
    { observe: ({ cells: [, , id = "", outcome] }) => void (id !== "" && outcome !== "failed" && ids.add(id)) },
  ]);
  return [...ids];
}

/** The items of an import as they are now, page by page. */
export function useImportedItems(api: Api, jobId: string): LoadedList<Item> & { readonly count: number | undefined } {
  const [ids, setIds] = useState<readonly string[]>();
  const [shown, setShown] = useState(PAGE_ITEMS);
  const [entries, setEntries] = useState<readonly Item[]>([]);
  const [isLoading, setLoading] = useState(true);
  const [error, setError] = useState<string>();
  const fail = (caught: unknown): void => {
    setError(sentenceOf(caught));
    setLoading(false);
  };
  useEffect(() => {
    readIds(api, jobId).then(setIds, fail);
  }, [api, jobId]);
  useEffect(() => {
    if (ids === undefined) return;
    setLoading(true);
    api.getItems(ids.slice(shown - PAGE_ITEMS, shown)).then((items) => {
      setEntries((before) => [...before, ...items]);
      setLoading(false);
    }, fail);
  }, [ids, shown]);
  const hasMore = ids !== undefined && shown < ids.length;
  const more = hasMore ? () => setShown(shown + PAGE_ITEMS) : undefined;
  return { entries, isLoading, error, more, count: ids?.length };
}
