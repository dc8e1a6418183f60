/** People would hardly recognize an ID made of more columns. */
export const COLUMNS_MAX = 4;
/** Longer texts aren't used in IDs. */
export const PART_MAX_CHARACTERS = 60;

function countDistinct(rows: readonly (readonly string[])[], indexes: readonly number[]): number {
  return new Set(rows.map((cells) => JSON.stringify(indexes.map((index) => (cells[index] ?? "").trim())))).size;
}

/**
 * A few columns that together make all rows different, as indexes: takes the one that distinguishes the most rows until all
 * differ. @param indexes columns that may be used @returns undefined if four columns don't suffice
 */
export function distinctColumns(
  rows: readonly (readonly string[])[],
  indexes: readonly number[],
): readonly number[] | undefined {
  const short = indexes.filter((index) => rows.every((cells) => (cells[index] ?? "").length <= PART_MAX_CHARACTERS));
  let chosen: readonly number[] = [];
  while (chosen.length < Math.min(COLUMNS_MAX, short.length)) {
    const sets = short.filter((index) => !chosen.includes(index)).map((index) => [...chosen, index]);
    chosen = sets.reduce((best, set) => (countDistinct(rows, set) > countDistinct(rows, best) ? set : best));
    if (countDistinct(rows, chosen) === rows.length) return chosen.toSorted((a, b) => a - b);
  }
  return undefined;
}
