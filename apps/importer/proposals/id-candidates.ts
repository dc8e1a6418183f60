import { nameOfColumn } from "../../../lib/uploads/csv/csv-columns.ts";
import { plainWords, targetOfName, targetOfTypo } from "./known-headers.ts";
import { combinations, PART_MAX_CHARACTERS } from "./made-ids.ts";

/** Limit of the columns whose values are compared in all rows. */
const COMPARED_MAX = 6;
/** Further columns aren't combined, and their names aren't searched for typos. */
const COMBINED_MAX = 60;

/** What is compared in all rows, because it may identify items. */
export interface IdCandidates {
  /** Indexes of columns named after an ID. */
  readonly named: readonly number[];
  /** Indexes of other columns with values without spaces that differ in the first rows. */
  readonly distinct: readonly number[];
  /** Columns that together differ in the first rows, the fewest first. */
  readonly combined: readonly (readonly number[])[];
}

/** Whether a column is named after an ID. */
function isNamedId(name: string, index: number): boolean {
  if (nameOfColumn(name) === "external_id") return true;
  const words = plainWords(name);
  return (targetOfName(words)?.target ?? (index < COMBINED_MAX ? targetOfTypo(words) : undefined)) === "external_id";
}

/**
 * What may identify the items of a file, by its first rows.
 * @param names the header's cells
 */
export function idCandidates(names: readonly string[], rows: readonly (readonly string[])[]): IdCandidates {
  if (rows.length === 0) return { named: [], distinct: [], combined: [] };
  const filled = rows.filter((cells) => cells.some((cell) => cell.trim() !== ""));
  const hasName = names.map((name) => name.trim() !== "");
  const indexes = names.map((_, index) => index).filter((index) => hasName[index]);
  const named = indexes.filter((index) => isNamedId(names[index]!, index)).slice(0, COMPARED_MAX);
  const isDistinct = (index: number): boolean => {
    const texts = filled.map((cells) => (cells[index] ?? "").trim());
    const isId = (text: string): boolean => text !== "" && text.length <= PART_MAX_CHARACTERS && !/\s/.test(text);
    return texts.every(isId) && new Set(texts).size === texts.length;
  };
  const distinct = filled.length === 0 ? [] : indexes.filter((index) => !named.includes(index) && isDistinct(index));
  return {
    named,
    distinct: distinct.slice(0, COMPARED_MAX),
    combined: combinations(filled, indexes.slice(0, COMBINED_MAX)),
  };
}
