import { type Found, openIndex, termsOf } from "./search-index.ts";

/** The most results that are shown. */
const RESULTS_MAX = 8;
/** How many words of a result's text are shown, and how many of them before the first match. */
const EXCERPT = { words: 24, before: 6 };
/** Steps between results, by key. */
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** The part of a text that has most of the terms, with all matches highlighted. */
function excerptOf({ text, terms }: Found): HTMLElement {
  const words = text.split(/(?<=\s)/);
  const matches = words.map((word) =>
    termsOf(word.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "")).findLast((term) => terms.has(term)),
  );
  const termsFrom = (at: number): number => new Set(matches.slice(at, at + EXCERPT.words)).size;
  let first = Math.max(0, matches.findIndex(Boolean));
  for (const [at, match] of matches.entries()) if (match && termsFrom(at) > termsFrom(first)) first = at;
  const start = Math.max(0, first - EXCERPT.before);
  const end = start + EXCERPT.words;
  const excerpt = document.createElement("p");
  if (start > 0) excerpt.append("… ");
  for (const [at, word] of words.slice(start, end).entries()) {
    if (matches[start + at] === undefined) excerpt.append(word);
    else {
      const mark = document.createElement("mark");
      mark.textContent = word.trimEnd();
      excerpt.append(mark, " ");
    }
  }
  if (end < words.length) excerpt.append("…");
  return excerpt;
}

function resultOf(found: Found, root: URL): HTMLElement {
  const link = document.createElement("a");
  link.href = new URL(found.path, root).href;
  const title = document.createElement("b");
  title.textContent = found.title;
  link.append(title, excerptOf(found));
  const item = document.createElement("li");
  item.append(link);
  return item;
}

function summaryOf(typed: string, found: readonly Found[]): string {
  if (typed.trim() === "") return "";
  if (found.length === 0) return `Nothing found for “${typed}”. Try other words.`;
  if (found.length > RESULTS_MAX) return `The ${RESULTS_MAX} best results:`;
  return found.length === 1 ? "1 result:" : `${found.length} results:`;
}

/** Starts the search of pages and their sections. Loads the index when the search is first used. */
export function startSearch(): void {
  const input = document.querySelector<HTMLInputElement>("#search");
  const list = document.querySelector(".results");
  const status = document.querySelector(".found");
  if (!input || !list || !status) return;
  const root = new URL(input.dataset["root"]!, location.href);
  let loaded: Promise<ReturnType<typeof openIndex>> | undefined;
  const load = (): Promise<ReturnType<typeof openIndex>> =>
    (loaded ??= fetch(new URL(input.dataset["index"]!, location.href)).then(async (response) => {
      if (!response.ok) throw new Error(`The search could not be loaded (${response.status}).`);
      return openIndex(await response.text());
    }));
  const show = async (): Promise<void> => {
    const typed = input.value;
    const search = await load();
    if (input.value !== typed) return;
    const found = search(typed);
    status.textContent = summaryOf(typed, found);
    list.replaceChildren(...found.slice(0, RESULTS_MAX).map((one) => resultOf(one, root)));
  };
  const run = (then?: () => void): void =>
    void show().then(then, (error: unknown) => {
      loaded = undefined;
      status.textContent = error instanceof Error ? error.message : "The search could not be loaded.";
    });
  input.addEventListener("input", () => run());
  // A section of this page is shown without another page. With a key held, the result opens in another tab or window.
  list.addEventListener("click", (event) => {
    const { ctrlKey, metaKey, shiftKey } = event as MouseEvent;
    if (ctrlKey || metaKey || shiftKey) return;
    input.value = "";
    run();
  });
  input.parentElement!.addEventListener("keydown", (event) => {
    const places = [input, ...list.querySelectorAll("a")];
    const step = STEPS[event.key];
    if (event.key === "Enter" && event.target === input) run(() => list.querySelector("a")?.click());
    if (step === undefined) return;
    event.preventDefault();
    places.at((places.indexOf(event.target as HTMLInputElement) + step) % places.length)!.focus();
  });
}
