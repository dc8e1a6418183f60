/** An ID made of more columns is hardly one that a person recognizes. */
export const COLUMNS_MAX = 4;
/** Longer texts are no part of an ID. */
export const PART_MAX_CHARACTERS = 60;

function countDistinct(rows: readonly (readonly string[])[], places: readonly number[]): number {
  return new Set(rows.map((cells) => JSON.stringify(places.map((place) => (cells[place] ?? "").trim())))).size;
}

/**
 * The places of the fewest columns that together tell all rows apart, each added because it tells the most; undefined if
 * no four do.
 * @param places those that may be used
 */
export function distinguishingColumns(
  rows: readonly (readonly string[])[],
  places: readonly number[],
): readonly number[] | undefined {
  const filled = rows.filter((cells) => cells.some((cell) => cell.trim() !== ""));
  const short = places.filter((place) => filled.every((cells) => (cells[place] ?? "").length <= PART_MAX_CHARACTERS));
  let chosen: readonly number[] = [];
  while (chosen.length < COLUMNS_MAX) {
    const next = short
      .filter((place) => !chosen.includes(place))
      .map((place) => ({ place, count: countDistinct(filled, [...chosen, place]) }))
      .reduce<{ place: number; count: number } | undefined>(
        (most, each) => (most === undefined || each.count > most.count ? each : most),
        undefined,
      );
    if (next === undefined) return undefined;
    chosen = [...chosen, next.place].toSorted((a, b) => a - b);
    if (next.count === filled.length) return chosen;
  }
  return undefined;
}
