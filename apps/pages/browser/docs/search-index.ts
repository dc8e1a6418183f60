import MiniSearch, { type Options, type SearchOptions } from "minisearch";
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
}

/** An entry that was found. */
export interface Found {
  readonly path: string;
  readonly title: string;
  readonly text: string;
  /** The index's terms that match. */
  readonly terms: ReadonlySet<string>;
}

/** What a search found. */
export interface SearchResults {
  /** The best ones first. */
  readonly found: readonly Found[];
  /** Words of the query that no page has, each with the most similar one that was found in its place. */
  readonly unknown: readonly { readonly word: string; readonly similar?: string | undefined }[];
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
  storeFields: ["heading", "page", "words", "text"],
  tokenize: wordsOf,
  processTerm: termsOf,
  searchOptions: {
    boost: { heading: 4, page: 1.5, words: 5 },
    // Less than usual (0.7) is taken from long texts, whose headings are as good as those of short ones.
    bm25: { k: 1.2, b: 0.4, d: 0.5 },
    weights: { fuzzy: 0.8, prefix: 0.5 },
  },
};

export function createIndex(entries: readonly SearchEntry[]): string {
  const index = new MiniSearch(OPTIONS);
  index.addAll(entries);
  return JSON.stringify(index);
}

/** Shorter words have too many similar ones. */
const SIMILAR_FROM = 5;
/** How many of the best entries are compared with each other. */
const COMPARED = 40;
/** How many places of one page are found. */
const PLACES_MAX = 3;
/** How much of the score of a page's best other section an entry gets: a page on the subject has several of them. */
const PAGE_SHARE = 0.4;

type Entry = Omit<SearchEntry, "path"> & {
  readonly id: string;
  readonly score: number;
  readonly terms: readonly string[];
};

/** An entry with how many words of the query it has. */
interface Match {
  readonly entry: Entry;
  readonly score: number;
  readonly words: number;
  readonly terms: readonly string[];
}

function byScore(one: Match, other: Match): number {
  return other.score - one.score;
}

function pageOf({ entry }: Match): string {
  return entry.id.replace(/#.*/, "");
}

/** The matches without those of which their page has better ones, so that many pages are found. */
function firstOfPages(matches: readonly Match[]): readonly Match[] {
  const places = new Map<string, number>();
  return matches.filter((match) => {
    const page = pageOf(match);
    const place = (places.get(page) ?? 0) + 1;
    places.set(page, place);
    return place <= PLACES_MAX;
  });
}

function bestOnPage(matches: readonly Match[], match: Match): number {
  const others = matches.filter((other) => other.entry !== match.entry && pageOf(other) === pageOf(match));
  return Math.max(0, ...others.map(({ score }) => score));
}

/** The stems of a text's words, without those that say nothing. */
function stemsOf(text: string): string {
  return wordsOf(text)
    .flatMap((word) => termsOf(word).slice(-1))
    .join(" ");
}

/**
 * How often two consecutive words of the query stand together in an entry: more where its heading or words have them.
 * @param stems those of the query's words
 */
function phrasesIn({ heading, words, text }: Entry, stems: readonly string[]): number {
  const patterns = stems.map((stem) => stem.replaceAll(/[^\p{L}\p{N}]+/gu, "\\W"));
  const pairs = patterns.slice(1).map((pattern, index) => new RegExp(`\\b${patterns[index]}\\w*[ -]${pattern}`, "i"));
  return pairs.reduce((sum, pair) => sum + (pair.test(`${heading} ${words}`) ? 2 : pair.test(text) ? 1 : 0), 0);
}

/**
 * Opens an index. A search finds entries with any word of the query, those with most of them first. A word that no entry
 * has stands for similar ones.
 */
export function openIndex(json: string): (query: string) => SearchResults {
  const index = MiniSearch.loadJSON(json, OPTIONS);
  const find = (word: string, options: SearchOptions): readonly Entry[] =>
    index.search(word, options) as unknown as Entry[];
  const lookUp = (word: string, isLast: boolean) => {
    // The last word may still be typed. Parts of a joined word, such as the “if” of If-Match, only count if no entry has it.
    const whole = find(word, { prefix: isLast, tokenize: (text) => [text] });
    const exact = whole.length > 0 ? whole : find(word, { prefix: isLast });
    if (exact.length > 0) return { word, entries: exact, isKnown: true };
    const entries = word.length < SIMILAR_FROM ? [] : find(word, { fuzzy: 0.2 });
    return { word, entries, isKnown: false, similar: entries[0]?.terms[0] };
  };
  return (query) => {
    const words = query.split(/\s+/).filter((word) => wordsOf(word).some((part) => termsOf(part).length > 0));
    const lookups = words.map((word, place) => lookUp(word, place === words.length - 1));
    const matches = new Map<string, Match>();
    for (const { entries } of lookups) {
      for (const entry of entries) {
        const { score, words: matched, terms } = matches.get(entry.id) ?? { score: 0, words: 0, terms: [] };
        const sum = { score: score + entry.score, words: matched + 1, terms: [...terms, ...entry.terms] };
        matches.set(entry.id, { entry, ...sum });
      }
    }
    const ranked = [...matches.values()]
      .map((match) => ({ ...match, score: match.score * (match.words / words.length) ** 2 }))
      .toSorted(byScore);
    // The stem of “retries” is “retri”.
    const phrase = lookups.map(({ word, similar }) => stemmer((similar ?? word).toLowerCase()).replace(/i$/, ""));
    const likeness = (entry: Entry): number =>
      (1 + phrasesIn(entry, phrase) / 4) * (stemsOf(entry.heading) === stemsOf(query) ? 2 : 1);
    const best = ranked.slice(0, COMPARED).map((match) => ({ ...match, score: match.score * likeness(match.entry) }));
    const compared = best
      .map((match) => ({ ...match, score: match.score + PAGE_SHARE * bestOnPage(best, match) }))
      .toSorted(byScore);
    const found = firstOfPages([...compared, ...ranked.slice(COMPARED)]).map(({ entry, terms }) => ({
      path: entry.id,
      title: entry.page === "" ? entry.heading : `${entry.page}: ${entry.heading}`,
      text: entry.text,
      terms: new Set(terms),
    }));
    const unknown = lookups.filter(({ isKnown }) => !isKnown).map(({ word, similar }) => ({ word, similar }));
    return { found, unknown };
  };
}
