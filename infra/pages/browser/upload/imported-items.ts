import { observeRows } from "@work-items/importer/files/whole-file.ts";
import { useEffect, useState } from "preact/hooks";
import { COMMA } from "../../../../lib/uploads/csv/delimiter.ts";
import { type Api, type Item, RESULTS_MAX_BYTES } from "./api.ts";
import { sentenceOf } from "./shown.ts";
import type { LoadedList } from "./use-list.ts";

const PAGE_ITEMS = 50;

/** The IDs of the items that an import wrote or found unchanged, each once. Results are row, external_id, id, outcome. */
async function readIds(api: Api, jobId: string): Promise<string[]> {
  const list = await api.readList(jobId, "results");
  if (list === undefined) return [];
  const ids = new Set<string>();
  const options = { delimiter: COMMA, headerRow: 1, bytesMax: RESULTS_MAX_BYTES };
  // A row that failed has no ID.
  await observeRows(list.content, options, () => [
    { observe: ({ cells: [, , id = ""] }) => void (id !== "" && ids.add(id)) },
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
