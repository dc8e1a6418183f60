/** Only so many characters of a name are compared: a name may have thousands, and there may be thousands of names. */
const COMPARED_CHARACTERS = 32;

/** The number of characters to insert, delete or replace to make one text of the other (Levenshtein distance). */
export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  let next = [...row];
  for (let i = 0; i < a.length; i++) {
    next[0] = i + 1;
    for (let j = 0; j < b.length; j++) {
      const replaced = row[j]! + (a.charCodeAt(i) === b.charCodeAt(j) ? 0 : 1);
      next[j + 1] = Math.min(replaced, row[j + 1]! + 1, next[j]! + 1);
    }
    [row, next] = [next, row];
  }
  return row[b.length]!;
}

function compared(name: string): string {
  return name.trim().slice(0, COMPARED_CHARACTERS).toLowerCase();
}

/** The name that is most like another, in its own spelling; undefined if there are no names. */
export function nearestTo(name: string, names: readonly string[]): string | undefined {
  const wanted = compared(name);
  let nearest: string | undefined;
  let least = Infinity;
  for (const each of new Set(names)) {
    const other = compared(each);
    // As many characters as one is longer must be inserted at least.
    if (Math.abs(other.length - wanted.length) >= least) continue;
    const steps = distance(wanted, other);
    if (steps < least) [nearest, least] = [each, steps];
  }
  return nearest;
}
