import { plainWords, targetOfName } from "./known-headers.ts";
import { distinctColumns, PART_MAX_CHARACTERS } from "./made-ids.ts";

/** Limit of the columns whose values are compared in all rows. */
const COMPARED_MAX = 6;
/** Further columns aren't combined. */
const COMBINED_MAX = 60;

/** What is compared in all rows, because it may identify items. */
export interface IdCandidates {
  /** Indexes of columns named after an ID. */
  readonly named: readonly number[];
  /** Indexes of other columns with values without spaces that differ in the first rows. */
  readonly distinct: readonly number[];
  /** Columns that together differ in the first rows. */
  readonly combined?: readonly number[] | undefined;
}

/** Whether a column is named after an ID, and whether its name leaves no doubt; undefined if it isn't. */
function idName(name: string): { readonly isCertain: boolean } | undefined {
  const found = targetOfName(plainWords(name));
  return found?.target === "external_id" ? found : undefined;
}

/**
 * What may identify the items of a file, by its first rows. If a column is clearly named after an ID and doesn't repeat there,
 * only such columns.
 * @param names the header's cells
 */
export function idCandidates(names: readonly string[], rows: readonly (readonly string[])[]): IdCandidates {
  if (rows.length === 0) return { named: [], distinct: [] };
  const filled = rows.filter((cells) => cells.some((cell) => cell.trim() !== ""));
  const indexes = [...names.keys()].filter((index) => names[index]!.trim() !== "");
  const isDistinct = (index: number): boolean => {
    const texts = filled.map((cells) => (cells[index] ?? "").trim());
    const isId = (text: string): boolean => text !== "" && text.length <= PART_MAX_CHARACTERS && !/\s/.test(text);
    return texts.every(isId) && new Set(texts).size === texts.length;
  };
  const named = indexes.filter((index) => idName(names[index]!) !== undefined).slice(0, COMPARED_MAX);
  const isClear = named.some((index) => idName(names[index]!)?.isCertain === true && isDistinct(index));
  if (isClear || filled.length === 0) return { named, distinct: [] };
  const distinct = indexes.filter((index) => !named.includes(index) && isDistinct(index)).slice(0, COMPARED_MAX);
  return { named, distinct, combined: distinctColumns(filled, indexes.slice(0, COMBINED_MAX)) };
}
