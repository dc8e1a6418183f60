/** People would hardly recognize an ID made of more columns. */
export const COLUMNS_MAX = 4;
/** Longer texts aren't used in IDs. */
export const PART_MAX_CHARACTERS = 60;

function countDistinct(rows: readonly (readonly string[])[], indexes: readonly number[]): number {
  return new Set(rows.map((cells) => JSON.stringify(indexes.map((index) => (cells[index] ?? "").trim())))).size;
}

/** The largest number. */
function mostOf(found: readonly { readonly index: number; readonly count: number }[]) {
  return found.reduce<(typeof found)[number] | undefined>(
    (most, each) => (most === undefined || each.count > most.count ? each : most),
    undefined,
  );
}

/**
 * A few columns that together make all rows different, as indexes. Adds the column that distinguishes the most rows until all
 * differ, and then the columns with the most values: in further rows, fewer columns may not suffice.
 * @param indexes columns that may be used
 * @returns the fewest columns first; empty if four columns don't suffice
 */
export function combinations(
  rows: readonly (readonly string[])[],
  indexes: readonly number[],
): readonly (readonly number[])[] {
  const short = indexes.filter((index) => rows.every((cells) => (cells[index] ?? "").length <= PART_MAX_CHARACTERS));
  const alone = new Map(short.map((index) => [index, countDistinct(rows, [index])]));
  const found: (readonly number[])[] = [];
  let chosen: readonly number[] = [];
  while (chosen.length < COLUMNS_MAX) {
    const isDone = found.length > 0;
    const others = short.filter((index) => !chosen.includes(index));
    const counts = others.map((index) => ({
      index,
      count: isDone ? alone.get(index)! : countDistinct(rows, [...chosen, index]),
    }));
    const next = mostOf(counts);
    if (next === undefined || (isDone && next.count < 2)) break;
    chosen = [...chosen, next.index].toSorted((a, b) => a - b);
    if (isDone || next.count === rows.length) found.push(chosen);
  }
  return found;
}
