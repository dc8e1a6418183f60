import { ENCODINGS, StrictDecoder } from "./encodings.ts";

/** How values of a file would read in an encoding. */
export interface LikelyEncoding {
  readonly encoding: string;
  readonly values: readonly string[];
}

/** UTF-16 and ISO-2022-JP are known by other signs than what their text would be. */
const GUESSED = Object.keys(ENCODINGS).filter((each) => !/^(?:utf|iso-2022)-/.test(each));
/** More aren't shown. */
const LIKELY_MAX = 4;
const VALUES_MAX = 3;
/** An encoding whose text makes so much less sense than the best one's isn't likely. */
const SCORE_BELOW_BEST = 0.25;
const SHOWN_CHARACTERS = 40;

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const FOREIGN = /[^\0-\u007F]/gu;
const LATIN = /\p{Script=Latin}/u;
/** No text has their letters and Latin ones in one word, unless its alphabet is wrong: "Chloй". */
const OTHER_ALPHABETS = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}]/u;
/** So many letters that make sense are needed beside one in such a word. */
const MIXED_WEIGHT = 3;
const SCRIPTS = [
  LATIN,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Hebrew}/u,
  /\p{Script=Arabic}/u,
  /\p{Script=Thai}/u,
  /\p{Script=Hangul}/u,
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u,
];
/** Kana of half the width are what a decoder of Shift JIS makes of the letters of other alphabets. */
const UNUSUAL = /[\uFF61-\uFF9F\p{Co}\p{Cn}]/u;

function countForeign(text: string): number {
  return text.match(FOREIGN)?.length ?? 0;
}

/** Whether a word is one that people write: of one script, without capitals inside, and in Latin not of accents alone. */
function isWord(word: string): boolean {
  if (UNUSUAL.test(word) || /\p{Ll}\p{Lu}/u.test(word)) return false;
  if (SCRIPTS.filter((script) => script.test(word)).length !== 1) return false;
  return !LATIN.test(word) || word.length < 3 || countForeign(word) <= word.length / 2;
}

/** How much of the text that isn't ASCII makes sense, up to 1: it is in words, not in signs or in words of two alphabets. */
function senseOf(text: string): number {
  const words = text.match(WORD) ?? [];
  const mixed = words.filter((word) => LATIN.test(word) && OTHER_ALPHABETS.test(word));
  const letters = countForeign(words.filter(isWord).join("")) - MIXED_WEIGHT * countForeign(mixed.join(""));
  return letters / Math.max(1, countForeign(text));
}

function decodeAll(lines: readonly Uint8Array[], encoding: string): readonly string[] | undefined {
  try {
    return lines.map((line) => {
      const decoder = new StrictDecoder(encoding);
      return decoder.decode(line) + decoder.decode();
    });
  } catch {
    return undefined;
  }
}

/** A value as it is shown: in one line, from a little before its first letter that isn't ASCII. */
function shown(value: string): string {
  const text = value.replaceAll(/[\p{Cc}\p{Cf}"]+/gu, " ").trim();
  const start = Math.max(0, text.search(FOREIGN) - SHOWN_CHARACTERS / 2);
  const part = text.slice(start, start + SHOWN_CHARACTERS);
  return `${start > 0 ? "…" : ""}${part}${start + SHOWN_CHARACTERS < text.length ? "…" : ""}`;
}

/**
 * Values of a file, of which the same lines were read in several ways, as they are in each: first those that differ most,
 * and those that aren't ASCII.
 */
export function valuesIn(readings: readonly (readonly string[])[], delimiter: string): string[][] {
  const found = new Map<string, readonly string[]>();
  for (const index of readings[0]?.keys() ?? []) {
    const rows = readings.map((lines) => lines[index]!.split(delimiter));
    for (const column of rows[0]!.keys()) {
      const values = rows.map((row) => shown(row[column] ?? ""));
      if (values[0] !== "") found.set(values.join("\n"), values);
    }
  }
  const all = [...found.values()];
  const foreign = all.filter((values) => countForeign(values.join("")) > 0);
  const differences = (values: readonly string[]): number => new Set(values).size;
  const chosen = (foreign.length > 0 ? foreign : all)
    .toSorted((a, b) => differences(b) - differences(a))
    .slice(0, VALUES_MAX);
  return readings.map((_, at) => chosen.map((values) => values[at]!));
}

/** How values in lines of a file read in each of some encodings. */
export function readingsOf(
  lines: readonly Uint8Array[],
  encodings: readonly string[],
  delimiter: string,
): LikelyEncoding[] {
  const decoded = encodings.flatMap((encoding) => {
    const texts = decodeAll(lines, encoding);
    return texts ? [{ encoding, texts }] : [];
  });
  const values = valuesIn(
    decoded.map(({ texts }) => texts),
    delimiter,
  );
  return decoded.map(({ encoding }, index) => ({ encoding, values: values[index]! }));
}

/** The encodings that make most sense of lines which aren't UTF-8, the likeliest first, and how values read in them. */
export function findLikelyEncodings(lines: readonly Uint8Array[], delimiter: string): LikelyEncoding[] {
  const seen = new Set<string>();
  const tried = GUESSED.flatMap((encoding) => {
    const text = decodeAll(lines, encoding)?.join("\n");
    // Several encodings have the same letters.
    if (text === undefined || seen.has(text)) return [];
    seen.add(text);
    return [{ encoding, sense: senseOf(text) }];
  }).toSorted((a, b) => b.sense - a.sense);
  const best = tried[0]?.sense ?? 0;
  const likely = tried.filter(({ sense }) => sense >= best - SCORE_BELOW_BEST).slice(0, LIKELY_MAX);
  return readingsOf(
    lines,
    likely.map(({ encoding }) => encoding),
    delimiter,
  );
}
