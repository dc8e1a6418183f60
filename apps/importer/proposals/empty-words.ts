import { comparable } from "../../../lib/uploads/csv/header-names.ts";

/** Texts that often mean an empty value. */
const EMPTY_WORDS: ReadonlySet<string> = new Set(["?", "null", "n/a", "#n/a", "none", "-", "nan", "[]", "{}"]);
const EMPTY_WORD_MAX_CHARACTERS = 4;

/** Whether a text often means an empty value. "Nan" and "NAN" may be names. */
export function isEmptyWord(text: string): boolean {
  if (text.length > EMPTY_WORD_MAX_CHARACTERS) return false;
  const word = comparable(text);
  return EMPTY_WORDS.has(word) && (word !== "nan" || text === "nan" || text === "NaN");
}
