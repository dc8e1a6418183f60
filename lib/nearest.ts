import { distance } from "fastest-levenshtein";

/** Only the start of a name is compared: there may be thousands of names with thousands of characters. */
const COMPARED_CHARACTERS = 32;

function compared(name: string): string {
  return name.trim().slice(0, COMPARED_CHARACTERS).toLowerCase();
}

/** The most similar of some names, as it is spelled there; undefined if there are none. */
export function nearestTo(name: string, names: readonly string[]): string | undefined {
  const wanted = compared(name);
  let nearest: string | undefined;
  let least = Infinity;
  for (const candidate of new Set(names)) {
    const steps = distance(wanted, compared(candidate));
    if (steps < least) {
      nearest = candidate;
      least = steps;
    }
  }
  return nearest;
}
