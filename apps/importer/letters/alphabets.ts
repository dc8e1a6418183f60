/** The letters outside ASCII that people write, an alphabet each. Those beyond are rare: a decoder made them. */
const ALPHABETS = {
  latin: /[\u00AA\u00BA\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u017F\u0218-\u021B\u1E00-\u1EF9]/u,
  cyrillic: /[\u0401-\u045F\u0490\u0491]/u,
  greek: /[\u0386-\u03CE]/u,
  hebrew: /[\u05D0-\u05EA]/u,
  arabic: /[\u0621-\u064A\u0660-\u0669\u067E-\u06CC]/u,
  thai: /[\u0E01-\u0E5B]/u,
  hangul: /[\uAC00-\uD7A3]/u,
  ideographs: /[\u3001-\u30FF\u4E00-\u9FFF]/u,
} as const;
type Alphabet = keyof typeof ALPHABETS;

const SIGN = /[\u00A0-\u00BF\u00D7\u00F7\u2010-\u2044\u20AC\u2122\uFF01-\uFF5E\p{Emoji}\uFE0F]/u;
const WRITTEN = new RegExp(`^(?:${[...Object.values(ALPHABETS), SIGN].map(({ source }) => source).join("|")})+$`, "u");

/** Whether a text outside ASCII has only letters and signs that people write. */
export function isWritten(text: string): boolean {
  return WRITTEN.test(text);
}

/** The alphabets of the letters in a text. */
export function alphabetsIn(text: string): Alphabet[] {
  return (Object.keys(ALPHABETS) as Alphabet[]).filter(
    (alphabet) => ALPHABETS[alphabet].test(text) || (alphabet === "latin" && /[A-Za-z]/.test(text)),
  );
}
