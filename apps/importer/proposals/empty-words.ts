import { comparable } from "@work-items/lib/uploads/csv/header-names.ts";

/** Texts that often mean an empty value. */
const EMPTY_WORDS: ReadonlySet<string> = new Set(
  "? null n/a #n/a none - -- nan [] {} \\n (null) <null> nil <nil> <na> undefined (none) <none> (blank) (empty) <empty>".split(
    " ",
  ),
);
/** What a spreadsheet shows for an error, or where a column is too narrow: a value was lost. */
const LOST = /^#(?:REF!|NAME\?|VALUE!|DIV\/0!|NUM!|NULL!|SPILL!|CALC!|#+)$/i;
const EMPTY_WORD_MAX_CHARACTERS = 9;

/** Whether a spreadsheet wrote a text in place of a value that it couldn't show. */
function isLost(text: string): boolean {
  return text.startsWith("#") && LOST.test(text);
}

/** Whether a text often means an empty value. "Nan" and "NAN" may be names. */
export function isEmptyWord(text: string): boolean {
  if (isLost(text)) return true;
  if (text.length > EMPTY_WORD_MAX_CHARACTERS) return false;
  const word = comparable(text);
  return EMPTY_WORDS.has(word) && (word !== "nan" || text === "nan" || text === "NaN");
}

/** What speaks against a column with such texts, as a sentence without its end. */
export function doubtsOfLost(emptyWords: ReadonlyMap<string, number>): string[] {
  const lost = [...emptyWords.keys()].find(isLost);
  return lost === undefined ? [] : [`"${lost}" stands in place of values that were lost`];
}
