interface Entry {
  readonly title: string;
  readonly path: string;
  readonly text: string;
}

/** The most results that are shown. */
const RESULTS_MAX = 12;

/** How well an entry fits: each word must occur in it, and words of the title count more. 0 if it doesn't fit. */
function fitOf({ title, text }: Entry, words: readonly string[]): number {
  const [inTitle, inText] = [title.toLowerCase(), text.toLowerCase()];
  if (!words.every((word) => inTitle.includes(word) || inText.includes(word))) return 0;
  return 1 + words.filter((word) => inTitle.includes(word)).length * 10 - title.length / 1000;
}

/** Lets the search find pages and places in them. The index is loaded when the search is first used. */
export function startSearch(): void {
  const input = document.querySelector<HTMLInputElement>("#search");
  const list = document.querySelector(".results");
  const found = document.querySelector(".found");
  if (!input || !list || !found) return;
  input.parentElement!.hidden = false;
  const root = new URL(input.dataset["root"]!, location.href);
  let loaded: Promise<readonly Entry[]> | undefined;
  const load = (): Promise<readonly Entry[]> =>
    (loaded ??= fetch(new URL(input.dataset["index"]!, location.href)).then(async (response) => {
      if (!response.ok) throw new Error(`The search could not be loaded (${response.status}).`);
      return (await response.json()) as readonly Entry[];
    }));
  const show = async (): Promise<void> => {
    const typed = input.value;
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) {
      list.replaceChildren();
      found.textContent = "";
      return;
    }
    const entries = await load();
    if (input.value !== typed) return;
    const results = entries
      .map((entry) => ({ ...entry, fit: fitOf(entry, words) }))
      .filter(({ fit }) => fit > 0)
      .toSorted((a, b) => b.fit - a.fit);
    found.textContent = results.length === 0 ? `Nothing found for “${typed}”.` : `${results.length} found`;
    list.replaceChildren(
      ...results.slice(0, RESULTS_MAX).map(({ title, path }) => {
        const link = document.createElement("a");
        link.href = new URL(path, root).href;
        link.textContent = title;
        const item = document.createElement("li");
        item.append(link);
        return item;
      }),
    );
  };
  input.addEventListener("input", () => {
    show().catch((error: unknown) => {
      loaded = undefined;
      found.textContent = error instanceof Error ? error.message : "The search could not be loaded.";
    });
  });
}
