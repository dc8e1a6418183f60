import { comparable } from "./header-names.ts";

/** One row of a file while it is read. */
export interface Row {
  /** Its cells without their quotes. Cells may be missing. */
  readonly cells: readonly string[];
  /** What `createComparison` found out about its cells, by their indexes. */
  readonly compared: (string | null)[];
  /** Characters that have been made of its cells. */
  characters: number;
}

/** A row about which nothing is known yet. */
export function rowOf(cells: readonly string[]): Row {
  return { cells, compared: [], characters: 0 };
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
): (row: Row, index: number) => string | null {
  const listed = new Set(empty.map(comparable));
  const longest = [...empty, ...others].reduce((most, word) => Math.max(most, comparable(word).length), 0);
  const compare = (cell: string): string | null => {
    const text = cell.trim();
    // No character becomes shorter in lower case.
    if (text.length > longest) return null;
    const word = text.toLowerCase();
    return listed.has(word) ? "" : word;
  };
  return (row, index) => {
    const known = row.compared[index];
    return known === undefined ? (row.compared[index] = compare(row.cells[index] ?? "")) : known;
  };
}
