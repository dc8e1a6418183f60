import { useEffect, useState } from "preact/hooks";
import type { Api, ListPage } from "./api.ts";
import { sentenceOf } from "./shown.ts";

/** Pages of a list that were loaded so far. */
export interface LoadedList<T> {
  readonly entries: readonly T[];
  readonly isLoading: boolean;
  readonly error: string | undefined;
  /** Loads the next page; undefined if there is none. */
  readonly more: (() => void) | undefined;
}

/** Loads a list page by page, from its beginning whenever path or filters change. */
export function useList<T>(api: Api, path: string, filters: Readonly<Record<string, string>> = {}): LoadedList<T> {
  const [entries, setEntries] = useState<readonly T[]>([]);
  const [next, setNext] = useState<string>();
  const [isLoading, setLoading] = useState(true);
  const [error, setError] = useState<string>();
  const query = JSON.stringify(filters);

  const load = async (cursor: string, known: readonly T[], isOver: () => boolean): Promise<void> => {
    setLoading(true);
    try {
      const { data, meta } = await api.get<ListPage<T>>(path, { ...filters, cursor });
      if (isOver()) return;
      setEntries([...known, ...data]);
      setNext(meta.page.next);
      setError(undefined);
    } catch (caught) {
      if (isOver()) return;
      setError(sentenceOf(caught));
    }
    setLoading(false);
  };
  useEffect(() => {
    let isOver = false;
    setNext(undefined);
    void load("", [], () => isOver);
    return () => {
      isOver = true;
    };
  }, [api, path, query]);
  return {
    entries,
    isLoading,
    error,
    more: next === undefined ? undefined : () => void load(next, entries, () => false),
  };
}
