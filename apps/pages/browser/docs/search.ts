import { type Found, openIndex, termsOf } from "./search-index.ts";

/** The most results that are shown. */
const RESULTS_MAX = 8;
/** How many characters of a result's text are shown, and how many of them before the first match. */
const EXCERPT = { length: 150, before: 50 };

/** The part of a text around the first match, with all matches highlighted. */
function excerptOf({ text, terms }: Found): HTMLElement {
  const words = text.split(/(?<=\s)/);
  const matches = (word: string): boolean =>
    termsOf(word.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "")).some((term) => terms.has(term));
  let start = Math.max(0, words.findIndex(matches));
  for (let before = 0; start > 0 && before < EXCERPT.before; before += words[start]!.length) start -= 1;
  let end = start;
  for (let length = 0; end < words.length && length < EXCERPT.length; end++) length += words[end]!.length;
  const excerpt = document.createElement("p");
  if (start > 0) excerpt.append("… ");
  for (const word of words.slice(start, end)) {
    if (!matches(word)) excerpt.append(word);
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
  link.textContent = found.title;
  const item = document.createElement("li");
  item.append(link, excerptOf(found));
  return item;
}

function summaryOf(typed: string, found: readonly Found[]): string {
  if (typed.trim() === "") return "";
  return found.length === 0 ? `Nothing found for “${typed}”. Try other words.` : `${found.length} found.`;
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
  input.addEventListener("input", () => {
    show().catch((error: unknown) => {
      loaded = undefined;
      status.textContent = error instanceof Error ? error.message : "The search could not be loaded.";
    });
  });
}
