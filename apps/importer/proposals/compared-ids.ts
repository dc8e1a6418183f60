import { type FileRow, type IdFindings, RepeatedIds } from "../ids/repeated-ids.ts";
import { isEmptyWord } from "./empty-words.ts";
import { plainWords, targetOfName } from "./known-headers.ts";
import { headingIn, isSparse } from "./no-items.ts";

/** Limit of the columns whose values are compared in all rows. */
const COMPARED_MAX = 6;
/** Longer texts aren't IDs. */
const ID_MAX_CHARACTERS = 60;

/** Whether a column is named after an ID, and whether its name leaves no doubt; undefined if it isn't. */
function idName(name: string): { readonly isCertain: boolean } | undefined {
  const found = targetOfName(plainWords(name));
  return found?.target === "external_id" ? found : undefined;
}

/**
 * What may identify the items of a file, by its first rows: columns that are named after an ID, and other columns with values
 * without spaces that differ. If a column is clearly named after an ID and doesn't repeat there, only such columns.
 */
function idCandidates(names: readonly string[], rows: readonly (readonly string[])[]) {
  const filled = rows.filter((cells) => cells.some((cell) => cell.trim() !== ""));
  const indexes = rows.length === 0 ? [] : [...names.keys()].filter((index) => names[index]!.trim() !== "");
  const isDistinct = (index: number, among = filled): boolean => {
    const texts = among.map((cells) => (cells[index] ?? "").trim());
    const isId = (text: string): boolean => text !== "" && text.length <= ID_MAX_CHARACTERS && !/\s/.test(text);
    return texts.every(isId) && new Set(texts).size === texts.length;
  };
  const named = indexes.filter((index) => idName(names[index]!) !== undefined).slice(0, COMPARED_MAX);
  const certain = named.filter((index) => idName(names[index]!)?.isCertain === true);
  const isClear = certain.some((index) => isDistinct(index));
  const others = isClear || filled.length === 0 ? [] : indexes.filter((index) => !named.includes(index));
  // Headings of groups and sums between the items have no IDs.
  const items = filled.filter((cells) => headingIn(cells) === -1 && !isSparse(cells, names.length));
  const among = items.length * 2 > filled.length ? items : filled;
  const ofItems = (index: number): boolean => isDistinct(index, among);
  return { named, distinct: others.filter(ofItems).slice(0, COMPARED_MAX), sure: certain.find(ofItems) };
}

/** Compares the values of columns that may hold IDs in all rows. */
export class ComparedIds {
  readonly #named: ReadonlyMap<number, RepeatedIds>;
  /** Only asked whether they repeat: then they aren't IDs, and aren't compared further. */
  readonly #distinct: Map<number, RepeatedIds>;
  /** The column that is clearly named after an ID, if all items of the first rows have one. */
  readonly sure: number | undefined;

  constructor(names: readonly string[], rows: readonly (readonly string[])[]) {
    const { named, distinct, sure } = idCandidates(names, rows);
    this.sure = sure;
    const idsAt = (index: number) => [index, new RepeatedIds((cells) => idIn(cells[index]))] as const;
    this.#named = new Map(named.map(idsAt));
    this.#distinct = new Map(distinct.map(idsAt));
  }

  observe(row: FileRow): void {
    for (const ids of this.#named.values()) ids.observe(row);
    for (const [index, ids] of this.#distinct) {
      ids.observe(row);
      if (ids.hasRepeated) this.#distinct.delete(index);
    }
  }

  result(): ReadonlyMap<number, IdFindings> {
    return new Map([...this.#named, ...this.#distinct].map(([index, ids]) => [index, ids.findings]));
  }
}

/** The ID in a cell, without words that mean an empty value. */
function idIn(cell = ""): string {
  return isEmptyWord(cell.trim()) ? "" : cell;
}
