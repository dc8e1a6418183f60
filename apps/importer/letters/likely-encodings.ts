import { alphabetsIn } from "./alphabets.ts";
import { decodeStrictly, ENCODINGS } from "./encodings.ts";

/** How values of a file read in an encoding. */
export interface LikelyEncoding {
  readonly encoding: string;
  readonly values: readonly string[];
}

/** Zeros show UTF-16. ISO-2022-JP is ASCII. */
const GUESSED = Object.keys(ENCODINGS).filter((each) => !/^(?:utf|iso-2022)-/.test(each));
/** Limit of the encodings that are shown. */
const LIKELY_MAX = 4;
const VALUES_MAX = 3;
/** An encoding is likely if its score is at most this far below the best one. */
const SCORE_BELOW_BEST = 0.25;
const SHOWN_CHARACTERS = 40;

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const FOREIGN = /[^\0-\u007F]/gu;
/** A letter in a mixed word, such as "Chloй", counts against this many that make sense. */
const MIXED_WEIGHT = 3;
/** Capitals inside a word, and half-width kana, which a Shift JIS decoder makes of the letters of other alphabets. */
const UNUSUAL = /[\uFF61-\uFF9F\p{Co}\p{Cn}]|\p{Ll}\p{Lu}|\p{Lu}(?!\p{ASCII})\p{Lu}\p{Ll}/u;

function countForeign(text: string): number {
  return text.match(FOREIGN)?.length ?? 0;
}

/** Whether people write such words: in one alphabet, without capitals inside, and in Latin not with accents only. */
function isWord(word: string): boolean {
  const [alphabet, ...others] = alphabetsIn(word);
  if (alphabet === undefined || others.length > 0 || UNUSUAL.test(word)) return false;
  return alphabet !== "latin" || word.length < 3 || countForeign(word) <= word.length / 2;
}

/** Whether a word has Latin letters and others. In Korean, Japanese and Chinese that is usual. */
function isMixed(word: string): boolean {
  const [first, ...others] = alphabetsIn(word);
  return first === "latin" && others.some((alphabet) => alphabet !== "hangul" && alphabet !== "ideographs");
}

/** Signs where people write them, and how much sense they make. Between letters, a decoder may have made them of one. */
const SIGNS = [
  [/[“„«‹‘‚](?<![\p{L}\p{N}].)(?=[^\n“”„«»‹›‘’‚]{1,80}[“”»›’‘])/gu, 1],
  [/[“”»›’‘](?![\p{L}\p{N}])(?<=[“„«‹‘‚][^\n“”„«»‹›‘’‚]{1,80}.)|’(?<=s.)(?!\p{L})/gu, 1],
  [/’(?<=[A-Za-z].)(?=(?:[stdm]|re|ve|ll)\b)|’(?<=\b(?:[cdjlmnst]|qu).)(?=\p{L}{2})/gu, 1],
  [/[–—•](?<![\p{L}\p{N}].)(?![\p{L}\p{N}])|[•…](?<=\s.)|–(?<=\d.)(?=\d)|…(?![\p{L}\p{N}])/gu, 1],
  [/€(?<!\p{L}.)(?!\p{L})|[£¥](?<=\d\s?.)|[£¥](?=\s?\d)|\u00A0(?<=[\p{ASCII}«–€].)(?=[\p{ASCII}»–€])/gu, 1],
  [/(?<=\p{L})[–—’…](?=\p{L})/gu, 0.75],
] as const;
/** A decoder makes single letters of dashes, bullets and currency signs. A few are words. */
const ALONE = /^\p{N}*(?![àáåèéíőį])\p{Script=Latin}\p{N}*$/u;

/** How much of the text outside ASCII makes sense, at most 1: letters in words of one alphabet, and signs. */
function senseOf(text: string): number {
  const words = text.match(WORD) ?? [];
  const mixed = countForeign(words.filter(isMixed).join(""));
  const proper = words.filter(isWord);
  const alone = proper.filter((word) => ALONE.test(word) && countForeign(word) > 0).length;
  const signs = SIGNS.reduce((sum, [sign, weight]) => sum + weight * (text.match(sign)?.length ?? 0), 0);
  return (countForeign(proper.join("")) - alone / 2 + signs - MIXED_WEIGHT * mixed) / Math.max(1, countForeign(text));
}

/** A value as it is shown: one line, from a little before its first letter outside ASCII. */
function shown(value: string): string {
  const text = value.replaceAll(/[\p{Cc}\p{Cf}"]+/gu, " ").trim();
  const start = Math.max(0, text.search(FOREIGN) - SHOWN_CHARACTERS / 2);
  const part = text.slice(start, start + SHOWN_CHARACTERS);
  return `${start > 0 ? "…" : ""}${part}${start + SHOWN_CHARACTERS < text.length ? "…" : ""}`;
}

/** A few values from lines that were read in several ways, for each reading: those outside ASCII that differ most. */
function valuesIn(readings: readonly (readonly string[])[], delimiter: string): string[][] {
  const found = new Map<string, readonly string[]>();
  for (const index of readings[0]?.keys() ?? []) {
    const rows = readings.map((lines) => lines[index]!.split(delimiter));
    for (const column of rows[0]!.keys()) {
      const values = rows.map((row) => shown(row[column] ?? ""));
      if (values[0] !== "") found.set(values.join("\n"), values);
    }
  }
  const differences = (values: readonly string[]): number => new Set(values).size;
  const chosen = [...found.values()]
    .filter((values) => countForeign(values.join("")) > 0)
    .toSorted((a, b) => differences(b) - differences(a))
    .slice(0, VALUES_MAX);
  return readings.map((_, index) => chosen.map((values) => values[index]!));
}

/**
 * The encodings that fit lines that aren't UTF-8, the likeliest first, and how values read in them.
 * @param encodings those that are tried
 */
export function findLikelyEncodings(
  lines: readonly Uint8Array[],
  delimiter: string,
  encodings: readonly string[] = GUESSED,
): LikelyEncoding[] {
  const read = encodings.flatMap((encoding) => {
    const texts = lines.flatMap((line) => decodeStrictly(line, encoding) ?? []);
    return texts.length === lines.length ? [{ encoding, texts, whole: texts.join("\n") }] : [];
  });
  // Several encodings have the same letters.
  const tried = [...Map.groupBy(read, ({ whole }) => whole)].map(([whole, [one]]) => ({
    ...one!,
    sense: senseOf(whole),
  }));
  const best = Math.max(...tried.map(({ sense }) => sense));
  const likely = tried
    .filter(({ sense }) => sense >= best - SCORE_BELOW_BEST)
    .toSorted((a, b) => b.sense - a.sense)
    .slice(0, LIKELY_MAX);
  const readings = likely.map(({ texts }) => texts);
  const values = valuesIn(readings, delimiter);
  return likely.map(({ encoding }, index) => ({ encoding, values: values[index]! }));
}
