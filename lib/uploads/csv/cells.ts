import { ROW_MAX_CHARACTERS } from "./csv-text.ts";
import { comparable } from "./header-names.ts";

/** The cells of a row while they are read. */
export class Cells {
  /** Without quotes. Cells may be missing. */
  readonly values: readonly string[];
  /** What `createComparison` found out about the cells, by their indexes. */
  readonly compared: (string | null)[] = [];
  #characters = 0;

  constructor(values: readonly string[]) {
    this.values = values;
  }

  /**
   * Counts characters that are made of the row. A mapping may use a cell more than once, and join cells with long texts:
   * the row must not become much larger by it.
   * @returns whether so many may still be made
   */
  takeCharacters(characters: number): boolean {
    this.#characters += characters;
    return this.#characters <= ROW_MAX_CHARACTERS;
  }
}

/**
 * Makes the function that compares the cells of rows with words, each cell once, however often it is asked for. A cell
 * that is longer than all words equals none of them, so that no more than its spaces are looked at: it may have a
 * megabyte.
 * @param empty words of cells that count as empty
 * @param others all other words
 * @returns a function that gives a cell as `comparable` makes it: empty if it counts as empty, null if it equals no word
 * because it is too long
 */
export function createComparison(
  empty: readonly string[],
  others: readonly string[],
): (cells: Cells, index: number) => string | null {
  const listed = new Set(empty.map(comparable));
  const longest = [...empty, ...others].reduce((most, word) => Math.max(most, comparable(word).length), 0);
  const compare = (cell: string): string | null => {
    const text = cell.trim();
    // No character becomes shorter in lower case.
    if (text.length > longest) return null;
    const word = text.toLowerCase();
    return listed.has(word) ? "" : word;
  };
  return (cells, index) => {
    const known = cells.compared[index];
    return known === undefined ? (cells.compared[index] = compare(cells.values[index] ?? "")) : known;
  };
}
