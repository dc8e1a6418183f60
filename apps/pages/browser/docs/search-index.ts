import MiniSearch, { type Options } from "minisearch";
import { stemmer } from "stemmer";

/** What the search finds: a page, or a section of one. */
export interface SearchEntry {
  /** Its address, relative to the root. */
  readonly path: string;
  readonly title: string;
  /** Words by which people look for it, and which it doesn't contain. */
  readonly words: string;
  readonly text: string;
}

/** An entry that was found. */
export interface Found extends Pick<SearchEntry, "title" | "text"> {
  /** The entry's path. */
  readonly id: string;
  /** The index's terms that match. */
  readonly terms: readonly string[];
}

/** Words that say nothing about the subject of a question. */
const IGNORED = new Set(
  "a an and are as at be by can do does for from get has have how i if in is it its my need of on or our should so that the there they this to use was we what when where which who why will with you your".split(
    " ",
  ),
);

/** The index's terms for a word: the word, since a misspelt one has another stem, and its stem. None for an ignored word. */
export function termsOf(word: string): string[] {
  const lower = word.toLowerCase().replace(/['’]s$/, "");
  return IGNORED.has(lower) ? [] : [...new Set([lower, stemmer(lower)])];
}

const OPTIONS: Options<SearchEntry> = {
  idField: "path",
  fields: ["title", "words", "text"],
  storeFields: ["title", "text"],
  processTerm: termsOf,
  searchOptions: {
    boost: { title: 4, words: 6 },
    prefix: (_, index, terms) => index >= terms.length - 2,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    weights: { fuzzy: 0.2, prefix: 0.5 },
  },
};

export function createIndex(entries: readonly SearchEntry[]): string {
  const index = new MiniSearch(OPTIONS);
  index.addAll(entries);
  return JSON.stringify(index);
}

/** Opens an index. @returns the search, best results first */
export function openIndex(json: string): (query: string) => Found[] {
  const index = MiniSearch.loadJSON(json, OPTIONS);
  return (query) => index.search(query) as unknown as Found[];
}
