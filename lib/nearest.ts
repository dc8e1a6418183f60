import { distance } from "fastest-levenshtein";

/** Only so many characters of a name are compared: a name may have thousands, and there may be thousands of names. */
const COMPARED_CHARACTERS = 32;

function compared(name: string): string {
  return name.trim().slice(0, COMPARED_CHARACTERS).toLowerCase();
}

/** The name that is most like another, in its own spelling; undefined if there are no names. */
export function nearestTo(name: string, names: readonly string[]): string | undefined {
  const wanted = compared(name);
  let nearest: string | undefined;
  let least = Infinity;
  for (const each of new Set(names)) {
    const steps = distance(wanted, compared(each));
    if (steps < least) [nearest, least] = [each, steps];
  }
  return nearest;
}
