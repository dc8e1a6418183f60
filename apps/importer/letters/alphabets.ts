/** Alphabets by their scripts, and the letters outside ASCII that people write. Those beyond are rare: a decoder made them. */
const ALPHABETS = {
  latin: [/\p{Script=Latin}/u, /[\u00AA\u00BA\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u017F\u0218-\u021B\u1E00-\u1EF9]/],
  cyrillic: [/\p{Script=Cyrillic}/u, /[\u0401-\u045F\u0490\u0491]/],
  greek: [/\p{Script=Greek}/u, /[\u0386-\u03CE]/],
  hebrew: [/\p{Script=Hebrew}/u, /[\u05D0-\u05EA]/],
  arabic: [/\p{Script=Arabic}/u, /[\u0621-\u064A\u0660-\u0669\u067E-\u06CC]/],
  thai: [/\p{Script=Thai}/u, /[\u0E01-\u0E5B]/],
  hangul: [/\p{Script=Hangul}/u, /[\uAC00-\uD7A3]/],
  ideographs: [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u, /[\u3001-\u30FF\u4E00-\u9FFF]/],
} as const;
type Alphabet = keyof typeof ALPHABETS;

const SIGN = /[\u00A0-\u00BF\u00D7\u00F7\u2010-\u2044\u20AC\u2122\uFF01-\uFF5E\p{Emoji}\uFE0F]/u;
const LETTERS = Object.values(ALPHABETS).map(([, letters]) => letters);
const WRITTEN = new RegExp(`^(?:${[...LETTERS, SIGN].map(({ source }) => source).join("|")})+$`, "u");

/** Whether a text outside ASCII has only letters and signs that people write. */
export function isWritten(text: string): boolean {
  return WRITTEN.test(text);
}

/** The alphabets of a text, the Latin one first. */
export function alphabetsIn(text: string): Alphabet[] {
  return (Object.keys(ALPHABETS) as Alphabet[]).filter((alphabet) => ALPHABETS[alphabet][0].test(text));
}
