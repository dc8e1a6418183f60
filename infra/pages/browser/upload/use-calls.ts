import type { Page } from "work-items-client/pages.ts";
import { useEffect, useState } from "preact/hooks";
import { sentenceOf } from "./api.ts";

/** What a call gives that is made when the view appears, or why it failed; neither until then. */
export function useLoaded<T>(load: () => Promise<T>) {
  const [loaded, setLoaded] = useState<{ readonly value?: T; readonly error?: string }>({});
  useEffect(() => {
    load().then(
      (value) => setLoaded({ value }),
      (caught: unknown) => setLoaded({ error: sentenceOf(caught) }),
    );
  }, []);
  return loaded;
}

/** The work that a view begins: whether it runs, and why the last of it failed. */
export function useWork(runsAtOnce = false) {
  const [isRunning, setRunning] = useState(runsAtOnce);
  const [error, setError] = useState<string>();
  /** @returns whether it succeeded */
  const run = async (work: () => Promise<unknown>): Promise<boolean> => {
    setRunning(true);
    setError(undefined);
    try {
      await work();
      return true;
    } catch (caught) {
      setError(sentenceOf(caught));
      return false;
    } finally {
      setRunning(false);
    }
  };
  return { isRunning, error, run };
}

/** Pages of a list that were loaded so far. */
export interface LoadedList<T> {
  readonly entries: readonly T[];
  readonly isLoading: boolean;
  readonly error: string | undefined;
  /** Loads the next page; undefined if there is none. */
  readonly more: (() => void) | undefined;
}

/** Loads a list page by page. @param load loads the page at a cursor, which is empty at first */
export function useList<T>(load: (cursor: string) => Promise<Page<T>>): LoadedList<T> {
  const [entries, setEntries] = useState<readonly T[]>([]);
  const [next, setNext] = useState<string>();
  const { isRunning, error, run } = useWork(true);
  const show = (cursor: string): void =>
    void run(async () => {
      const { data, meta } = await load(cursor);
      setEntries((known) => [...known, ...data]);
      setNext(meta.page.next);
    });
  useEffect(() => show(""), []);
  return { entries, isLoading: isRunning, error, more: next === undefined ? undefined : () => show(next) };
}
