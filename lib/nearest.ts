/** Only so many characters of a name are compared: a name may have thousands, and there may be thousands of names. */
const COMPARED_CHARACTERS = 32;

/** The number of characters to insert, delete or replace to make one text of the other (Levenshtein distance). */
export const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, character] of a.split("").entries()) {
    const next = [i + 1];
    for (const [j, other] of b.split("").entries()) {
      const replaced = (row[j] ?? 0) + (character === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};

const compared = (name: string): string => name.trim().toLowerCase().slice(0, COMPARED_CHARACTERS);

/** The name that is most like another, in its own spelling; undefined if there are no names. */
export const nearestTo = (name: string, names: readonly string[]): string | undefined => {
  let nearest: string | undefined;
  let least = Infinity;
  for (const each of names) {
    const steps = distance(compared(name), compared(each));
    if (steps < least) [nearest, least] = [each, steps];
  }
  return nearest;
};
