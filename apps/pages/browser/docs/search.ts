import { type Found, openIndex, termsOf } from "./search-index.ts";

/** The most results that are shown. */
const RESULTS_MAX = 8;
/** Characters of a result's text that are shown, and how many of them before the first word that fits. */
const EXCERPT = { length: 150, before: 50 };

/** The part of a text around the first word that fits, with all that fit marked. */
function excerptOf({ text, terms }: Found): HTMLElement {
  const words = text.split(/(?<=\s)/);
  const fits = (word: string): boolean =>
    termsOf(word.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "")).some((term) => terms.includes(term));
  let [start, end, length] = [Math.max(0, words.findIndex(fits)), 0, 0];
  for (let before = 0; start > 0 && before < EXCERPT.before; before += words[start]!.length) start -= 1;
  for (end = start; end < words.length && length < EXCERPT.length; end++) length += words[end]!.length;
  const excerpt = document.createElement("p");
  if (start > 0) excerpt.append("… ");
  for (const word of words.slice(start, end)) {
    if (!fits(word)) excerpt.append(word);
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
  link.href = new URL(found.id, root).href;
  link.textContent = found.title;
  const item = document.createElement("li");
  item.append(link, excerptOf(found));
  return item;
}

/** Lets the search find pages and places in them. The index is loaded when the search is first used. */
export function startSearch(): void {
  const input = document.querySelector<HTMLInputElement>("#search");
  const list = document.querySelector(".results");
  const status = document.querySelector(".found");
  if (!input || !list || !status) return;
  const root = new URL(input.dataset["root"]!, location.href);
  let loaded: Promise<(query: string) => Found[]> | undefined;
  const load = (): Promise<(query: string) => Found[]> =>
    (loaded ??= fetch(new URL(input.dataset["index"]!, location.href)).then(async (response) => {
      if (!response.ok) throw new Error(`The search could not be loaded (${response.status}).`);
      return openIndex(await response.text());
    }));
  const show = async (): Promise<void> => {
    const typed = input.value;
    const search = await load();
    if (input.value !== typed) return;
    const results = search(typed);
    if (typed.trim() === "") status.textContent = "";
    else status.textContent = results.length === 0 ? `Nothing found for “${typed}”.` : `${results.length} found`;
    list.replaceChildren(...results.slice(0, RESULTS_MAX).map((found) => resultOf(found, root)));
  };
  input.addEventListener("input", () => {
    show().catch((error: unknown) => {
      loaded = undefined;
      status.textContent = error instanceof Error ? error.message : "The search could not be loaded.";
    });
  });
}
