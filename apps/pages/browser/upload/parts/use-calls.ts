import type { Page } from "work-items-client/http.ts";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { sentenceOf } from "./api.ts";

interface Loaded<T> {
  readonly value?: T;
  readonly error?: string;
}

/**
 * Loads something when the view appears, and again when `about` changes. @param load shows what it has so far, and stops at the
 * signal @returns the value, or why it failed; neither until then. `again` loads it again
 */
export function useLoaded<T>(
  load: (signal: AbortSignal, show: (value: T) => void) => Promise<T>,
  about: readonly unknown[] = [],
): Loaded<T> & { readonly again: () => void } {
  const [attempt, setAttempt] = useState(0);
  const of = useMemo(() => ({}), [...about, attempt]);
  const [known, setKnown] = useState<{ readonly of: object; readonly loaded: Loaded<T> }>();
  useEffect(() => {
    const abort = new AbortController();
    const show = (loaded: Loaded<T>): void => void (abort.signal.aborted || setKnown({ of, loaded }));
    load(abort.signal, (value) => show({ value })).then(
      (value) => show({ value }),
      (caught: unknown) => show({ error: sentenceOf(caught) }),
    );
    return () => abort.abort();
  }, [of]);
  return { ...(known?.of === of && known.loaded), again: () => setAttempt(attempt + 1) };
}

/** The work that a view starts: whether it runs, and why it last failed. The button that started it keeps the focus. */
export function useWork(runsAtOnce = false) {
  const [isRunning, setRunning] = useState(runsAtOnce);
  const [error, setError] = useState<string>();
  const focused = useRef<Element | null>(null);
  // A button loses the focus while it is disabled.
  useLayoutEffect(() => {
    if (!isRunning && document.activeElement === document.body && focused.current instanceof HTMLElement)
      focused.current.focus();
  }, [isRunning]);
  /** @returns whether it succeeded */
  const run = async (work: () => Promise<unknown>): Promise<boolean> => {
    focused.current = document.activeElement;
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

/** Loads a list page by page. @param load loads the page at a cursor, which is empty at first */
export function useList<T>(load: (cursor: string) => Promise<Page<T>>) {
  const [entries, setEntries] = useState<readonly T[]>([]);
  const [next, setNext] = useState<string | undefined>("");
  const { isRunning, error, run } = useWork(true);
  const show = (cursor: string): void =>
    void run(async () => {
      const { data, meta } = await load(cursor);
      setEntries((known) => [...known, ...data]);
      setNext(meta.page.next);
    });
  useEffect(() => show(""), []);
  /** Loads the next page, or again the one that failed; undefined if there is none. */
  const more = next === undefined ? undefined : () => show(next);
  return { entries, isLoading: isRunning, error, more };
}
/** The pages of a list that are loaded so far. */
export type LoadedList<T> = ReturnType<typeof useList<T>>;
