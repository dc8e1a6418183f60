import type { ResultRow } from "work-items-client/client.ts";
import { type JsonValue, parseJson } from "@work-items/lib/json.ts";

/** Limit of what is read of a list of results: a few hundred thousand rows. */
const CHARACTERS_MAX = 24 * 1024 * 1024;

/** The JSON in a cell of a row; undefined if it has none. */
export function jsonIn(cell: string | number = ""): JsonValue | undefined {
  // Most cells of a list are empty.
  if (cell === "") return undefined;
  try {
    return parseJson(String(cell));
  } catch {
    return undefined;
  }
}

/**
 * Reads results from their beginning.
 * @param show returns whether to stop
 * @param isNeeded whether to read on beyond the limit
 * @returns whether all were read
 */
export async function readFirstResults(
  results: AsyncIterable<ResultRow>,
  show: (row: ResultRow) => boolean | void,
  isNeeded = (): boolean => false,
): Promise<boolean> {
  let characters = 0;
  for await (const row of results) {
    if (show(row) === true) return false;
    characters += Object.values(row).join().length;
    if (characters >= CHARACTERS_MAX && !isNeeded()) return false;
  }
  return true;
}
