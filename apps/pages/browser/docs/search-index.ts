import MiniSearch, { type Options } from "minisearch";
import { stemmer } from "stemmer";

/** What the search finds: a page, or a section of one. */
export interface SearchEntry {
  /** Its address, relative to the root. */
  readonly path: string;
  /** Its heading, which is the page's title for a page. */
  readonly heading: string;
  /** The title of the page around a section. Empty for a page. */
  readonly page: string;
  /** Words by which people look for it, and which it doesn't contain. */
  readonly words: string;
  readonly text: string;
  /** Whether it is of a guide. @default it isn't */
  readonly isGuide?: boolean;
}

/** An entry that was found. */
export interface Found {
  readonly path: string;
  readonly title: string;
  readonly text: string;
  /** The index's terms that match. */
  readonly terms: ReadonlySet<string>;
}

/** Words that say nothing about the subject of a question. */
const IGNORED = new Set(
  "a about am an and any are as at be by can could do does for from get happen happens has have how i if in into is it its make me my need of on or our should so some that the there they this to use using was we what when where which who why will with you your".split(
    " ",
  ),
);

/** Words, and words that a hyphen, a dot or an underscore joins, such as `If-Match`, with their parts. */
function wordsOf(text: string): string[] {
  const joined = text.match(/[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)+/gu) ?? [];
  return [...joined, ...text.split(/[^\p{L}\p{N}'’]+/u).filter((word) => word !== "")];
}

/** The index's terms for a word: the word, since a misspelt one has another stem, and its stem. None for an ignored word. */
export function termsOf(word: string): string[] {
  const lower = word.toLowerCase().replace(/['’]s?$/, "");
  return IGNORED.has(lower) ? [] : [...new Set([lower, stemmer(lower)])];
}

const OPTIONS: Options<SearchEntry> = {
  idField: "path",
  fields: ["heading", "page", "words", "text"],
  storeFields: ["heading", "page", "text", "isGuide"],
  tokenize: wordsOf,
  processTerm: termsOf,
  searchOptions: {
    boost: { heading: 4, page: 1.5, words: 5 },
    // Everyday words are in the reference too, and most people who type them want to know what to do.
    boostDocument: (_, __, stored) => (stored?.["isGuide"] === true ? 1.5 : 1),
    // Less than usual (0.7) is taken from long texts, whose headings are as good as those of short ones.
    bm25: { k: 1.2, b: 0.4, d: 0.5 },
    // The last word may still be typed. Short words have too many similar ones.
    prefix: (_, place, words) => place === words.length - 1,
    fuzzy: (word) => (word.length < 5 ? false : 0.2),
    weights: { fuzzy: 0.8, prefix: 0.25 },
  },
};

export function createIndex(entries: readonly SearchEntry[]): string {
  const index = new MiniSearch(OPTIONS);
  index.addAll(entries);
  return JSON.stringify(index);
}

/** Opens an index. A search finds entries with any word of the query, or similar ones. Those with most words, or named whole, are first. */
export function openIndex(json: string): (query: string) => readonly Found[] {
  const index = MiniSearch.loadJSON(json, OPTIONS);
  return (query) => {
    const words = wordsOf(query).map(termsOf);
    const asked = new Set(words.flat());
    /** Whether the query has all words of a heading. */
    const names = (heading: string): boolean =>
      wordsOf(heading)
        .map(termsOf)
        .every((terms) => terms.length === 0 || terms.some((term) => asked.has(term)));
    const countIn = (found: readonly string[]): number =>
      words.filter((terms) => terms.some((term) => found.includes(term))).length;
    return index
      .search(query)
      .map(({ id, terms, score, queryTerms, ...stored }) => {
        const { heading, page, text } = stored as unknown as SearchEntry;
        const title = page === "" ? heading : `${page}: ${heading}`;
        const weight = countIn(queryTerms) ** 3 * (names(heading) ? 1.5 : 1);
        return { path: String(id), title, text, terms: new Set(terms), score: score * weight };
      })
      .toSorted((a, b) => b.score - a.score);
  };
}
