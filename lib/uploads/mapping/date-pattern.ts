import { utc } from "@date-fns/utc";
import { parse } from "date-fns/parse";
import { offsetOf, utcTime } from "../../instant.ts";

/** Fields of a pattern by their letters (Unicode Technical Standard #35), each at most once. */
const FIELDS = {
  year: "yu",
  month: "ML",
  day: "d",
  weekday: "E",
  hour: "HkhK",
  half: "ab",
  minute: "m",
  second: "s",
  fraction: "S",
  offset: "Xx",
} as const;
type Field = keyof typeof FIELDS;

/** Letters that other programs use or that are easily confused, and what they mean. */
const HINTS: Readonly<Record<string, string>> = {
  Y: "the year is yyyy, not YYYY",
  D: "the day is dd, not DD",
  T: "put the letter T in single quotes: 'T'",
  Z: "offsets are XXX (+01:00 or Z) or xx (+0100)",
  z: "offsets are XXX (+01:00 or Z) or xx (+0100); names of time zones aren't supported",
};

/** Quoted text, a run of one letter, perhaps with `o` for an ordinal number, or another character. */
const TOKENS = /''|'(?:''|[^'])+(?:'|$)|d?o|([A-Za-z])\1*|./gs;
function tokensOf(pattern: string): string[] {
  return pattern.match(TOKENS) ?? [];
}
function isField(token: string): boolean {
  return /^[A-Za-z]/.test(token);
}
function fieldOf(token: string): Field | undefined {
  return (Object.keys(FIELDS) as Field[]).find((field) => FIELDS[field].includes(token.charAt(0)));
}

/** What is wrong with a pattern; undefined if it can be read. */
export function problemOfPattern(pattern: string): string | undefined {
  const letters = tokensOf(pattern).filter(isField);
  const unknown = letters.find((token) => fieldOf(token) === undefined && token !== "do");
  if (unknown !== undefined) {
    const hint = HINTS[unknown.charAt(0)] ?? "text must be in single quotes";
    return `${unknown} isn't a date field; ${hint}`;
  }
  const fields = letters.map(fieldOf);
  const twice = fields.find((field, index) => fields.indexOf(field) !== index);
  if (twice !== undefined) return `the ${twice} occurs twice`;
  const lettersOf = { year: "yyyy", month: "MM", day: "dd" };
  const missing = (["year", "month", "day"] as const).find((field) => !fields.includes(field));
  if (missing !== undefined) return `the ${missing} (${lettersOf[missing]}) is missing`;
  const isHalf = letters.some((token) => "hK".includes(token.charAt(0)));
  if (isHalf !== fields.includes("half")) {
    return isHalf
      ? "hours from 1 to 12 (h) need AM or PM (a); use HH for hours from 0 to 23"
      : "AM or PM (a) needs hours from 1 to 12 (h)";
  }
  return undefined;
}

/** Whether the texts of a pattern contain their offset from UTC. */
export function hasOffset(pattern: string): boolean {
  return tokensOf(pattern).some((token) => fieldOf(token) === "offset");
}

/** With this year date-fns reads two digits as a year from 1951 to 2050. */
const REFERENCE = utc(Date.UTC(2001, 0, 1));
/** A year with fewer digits lacks its century. */
const YEAR_MIN = 1000;

/** Expressions for the fields of digits. They accept what date-fns accepts. */
const DIGITS: Readonly<Record<string, string>> = {
  yyyy: String.raw`(?<year>\d{1,4})`,
  MM: String.raw`(?<month>\d{1,2})`,
  M: String.raw`(?<month>1[0-2]|0?\d)`,
  dd: String.raw`(?<day>\d{1,2})`,
  d: String.raw`(?<day>3[01]|[0-2]?\d)`,
  HH: String.raw`(?<hour>\d{1,2})`,
  H: String.raw`(?<hour>2[0-3]|[01]?\d)`,
  mm: String.raw`(?<minute>\d{1,2})`,
  ss: String.raw`(?<second>\d{1,2})`,
};

function unquoted(token: string): string {
  return token === "''"
    ? "'"
    : token.startsWith("'")
      ? token.replace(/^'([^]*?)'?$/, "$1").replaceAll("''", "'")
      : token;
}
function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

/** The expression for a pattern of digits with something between them; undefined for all other patterns. */
function expressionOf(pattern: string): RegExp | undefined {
  let expression = "";
  let wasDigits = false;
  for (const token of tokensOf(pattern)) {
    const digits = DIGITS[token];
    const text = unquoted(token);
    if (digits === undefined ? isField(token) || /^\d|\d$/.test(text) : wasDigits) return undefined;
    expression += digits ?? escaped(text);
    wasDigits = digits !== undefined;
  }
  return new RegExp(`^${expression}$`);
}

/** The positions of the signs in a text. */
function signsIn(text: string): number[] {
  return [...text.matchAll(/[+-]/g)].map(({ index }) => index);
}

/**
 * Makes the function that checks the offset of a text that date-fns has read: date-fns accepts digits that RFC 3339 doesn't.
 * No other field has a sign, so the signs in the texts between the fields show which sign of the cell is the offset's.
 */
function createOffsetCheck(pattern: string): (text: string) => boolean {
  const tokens = tokensOf(pattern);
  const index = tokens.findIndex((token) => fieldOf(token) === "offset");
  const countBetween = (some: readonly string[]): number =>
    some.reduce((sum, token) => sum + (isField(token) ? 0 : signsIn(unquoted(token)).length), 0);
  const [before, others] = [countBetween(tokens.slice(0, index)), countBetween(tokens)];
  const { length } = tokens[index] ?? "";
  const colon = length === 3 || length > 4 ? ":" : "";
  const offset = new RegExp(String.raw`([+-])(\d\d)(?:${colon}(\d\d))?`, "y");
  return (text) => {
    const signs = signsIn(text);
    // Z has no sign.
    if (signs.length === others) return false;
    offset.lastIndex = signs[before] ?? 0;
    const [, sign = "", hours = "", minutes] = offset.exec(text) ?? [];
    return Number.isNaN(offsetOf(sign, hours, minutes));
  };
}

/** More characters than fields can have beyond the letters of their pattern. A cell may have a megabyte. */
const FIELDS_MAX_CHARACTERS = 200;

/** Many programs write no-break spaces, for example before AM and PM. */
function withPlainSpaces(text: string): string {
  return text.replaceAll(/[\u00a0\u202f]/g, " ");
}

/**
 * Makes the function that reads texts of a pattern as milliseconds since the epoch; NaN if the text doesn't fit. Without an
 * offset the time is taken as UTC. date-fns defines what fits. An expression reads patterns of digits in a tenth of the time.
 */
export function createPatternReader(given: string): (text: string) => number {
  const pattern = withPlainSpaces(given);
  const read = createReader(pattern);
  return (text) => (text.length > pattern.length + FIELDS_MAX_CHARACTERS ? Number.NaN : read(withPlainSpaces(text)));
}

function createReader(pattern: string): (text: string) => number {
  const expression = expressionOf(pattern);
  const isTwoDigits = tokensOf(pattern).includes("yy");
  if (expression === undefined) {
    const hasImpossibleOffset = hasOffset(pattern) ? createOffsetCheck(pattern) : () => false;
    return (text) => {
      const date = parse(text, pattern, REFERENCE, { in: utc });
      if (Number.isNaN(date.getTime()) || hasImpossibleOffset(text)) return Number.NaN;
      return !isTwoDigits && date.getFullYear() < YEAR_MIN ? Number.NaN : date.getTime();
    };
  }
  return (text) => {
    const { year, month, day, hour, minute, second } = expression.exec(text)?.groups ?? {};
    if (year === undefined || Number(year) < YEAR_MIN) return Number.NaN;
    return utcTime(
      Number(year),
      Number(month),
      Number(day),
      Number(hour ?? 0),
      Number(minute ?? 0),
      Number(second ?? 0),
    );
  };
}
