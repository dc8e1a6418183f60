import { ROW_MAX_CHARACTERS } from "./csv-text.ts";
import { comparable } from "./header-names.ts";

/** The cells of a row while they are read. */
export class Cells {
  /** Without quotes. Cells may be missing. */
  readonly values: readonly string[];
  /** Cells that `createComparison` has compared, by their indexes. */
  readonly compared: (string | null)[] = [];
  #characters = 0;

  constructor(values: readonly string[]) {
    this.values = values;
  }

  /**
   * Counts characters that the mapping makes from the row. It may use a cell several times and join cells with long texts, but
   * the row must not become much larger.
   * @returns whether the row stays within its limit
   */
  takeCharacters(characters: number): boolean {
    this.#characters += characters;
    return this.#characters <= ROW_MAX_CHARACTERS;
  }
}

/**
 * Makes the function that compares the cells of rows with words. Each cell is compared once. A cell longer than all words equals
 * none of them, so only its outer spaces are scanned: it may have a megabyte.
 * @param empty words of cells that count as empty
 * @param others all other words
 * @returns a function that returns the cell as `comparable` does: empty if it counts as empty, null if it is longer than all
 * words
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
    const word = cells.compared[index];
    return word === undefined ? (cells.compared[index] = compare(cells.values[index] ?? "")) : word;
  };
}
