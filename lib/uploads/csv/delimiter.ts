/** Characters that may separate the cells of a row, and their names in messages. */
export const DELIMITERS = { ",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars" } as const;
/** A character between the cells of a row. */
export type Delimiter = keyof typeof DELIMITERS;

/** The delimiter of files without a mapping. */
export const COMMA: Delimiter = ",";

/** The delimiter that a header has instead of the expected one; undefined if there is none. @param names its cells */
export function otherDelimiter(names: readonly string[], expected: Delimiter): Delimiter | undefined {
  const only = names.length === 1 ? names[0] : undefined;
  return (Object.keys(DELIMITERS) as Delimiter[]).find((other) => other !== expected && only?.includes(other));
}
