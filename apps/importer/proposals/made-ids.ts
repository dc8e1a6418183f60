/** People would hardly recognize an ID made of more columns. */
export const COLUMNS_MAX = 4;
/** Longer texts aren't used in IDs. */
export const PART_MAX_CHARACTERS = 60;

function countDistinct(rows: readonly (readonly string[])[], indexes: readonly number[]): number {
  return new Set(rows.map((cells) => JSON.stringify(indexes.map((index) => (cells[index] ?? "").trim())))).size;
}

/**
 * The indexes of a few columns that together make all rows different. Adds the column that distinguishes the most rows
 * until all differ; undefined if four columns don't suffice.
 * @param indexes columns that may be used
 */
export function distinguishingColumns(
  rows: readonly (readonly string[])[],
  indexes: readonly number[],
): readonly number[] | undefined {
  const filled = rows.filter((cells) => cells.some((cell) => cell.trim() !== ""));
  const short = indexes.filter((index) => filled.every((cells) => (cells[index] ?? "").length <= PART_MAX_CHARACTERS));
  let chosen: readonly number[] = [];
  while (chosen.length < COLUMNS_MAX) {
    const next = short
      .filter((index) => !chosen.includes(index))
      .map((index) => ({ index, count: countDistinct(filled, [...chosen, index]) }))
      .reduce<{ index: number; count: number } | undefined>(
        (most, each) => (most === undefined || each.count > most.count ? each : most),
        undefined,
      );
    if (next === undefined) return undefined;
    chosen = [...chosen, next.index].toSorted((a, b) => a - b);
    if (next.count === filled.length) return chosen;
  }
  return undefined;
}
