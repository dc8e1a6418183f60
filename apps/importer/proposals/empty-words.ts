import { comparable } from "@work-items/lib/uploads/csv/header-names.ts";

/** Texts that often mean an empty value, also in brackets; and those that do so in brackets alone. */
const EMPTY_WORDS: ReadonlySet<string> = new Set("? null n/a #n/a none - -- nan [] {} \\n nil undefined".split(" "));
const IN_BRACKETS = /^[([<{](null|n\/a|none|nil|undefined|na|blank|empty)[)\]>}]$/;
/** What a spreadsheet shows for an error, or where a column is too narrow: a value was lost. */
const LOST = /^#(?:REF!|NAME\?|VALUE!|DIV\/0!|NUM!|NULL!|SPILL!|CALC!|#+)$/i;
const EMPTY_WORD_MAX_CHARACTERS = 11;

/** Whether a spreadsheet wrote a text in place of a value that it couldn't show. */
function isLost(text: string): boolean {
  return text.startsWith("#") && LOST.test(text);
}

/** Whether a text often means an empty value. "Nan" and "NAN" may be names. */
export function isEmptyWord(text: string): boolean {
  if (isLost(text)) return true;
  if (text.length > EMPTY_WORD_MAX_CHARACTERS) return false;
  const word = comparable(text);
  if (word === "nan") return text === "nan" || text === "NaN";
  return EMPTY_WORDS.has(word) || IN_BRACKETS.test(word);
}

/** What speaks against a column with such texts, as a sentence without its end. */
export function doubtsOfLost(emptyWords: ReadonlyMap<string, number>): string[] {
  const lost = [...emptyWords.keys()].find(isLost);
  return lost === undefined ? [] : [`"${lost}" stands in place of values that were lost`];
}
