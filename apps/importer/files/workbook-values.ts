import { format, tokenize } from "numfmt";

/** What a cell shows for its number: a number, a date, or a duration, which may be more than a day. */
export type NumberKind = "number" | "date" | "duration";

const DAY_MS = 86_400_000;
/** Day 0 of workbooks; 1904 is used by early ones for the Macintosh. */
const DAY_ZERO_MS = { 1900: Date.UTC(1899, 11, 30), 1904: Date.UTC(1904, 0, 1) } as const;
export type DateSystem = keyof typeof DAY_ZERO_MS;
/** Workbooks count a February 29, 1900 that never existed: before it, day 1 is January 1. */
const MARCH_1900 = 61;
/** What spreadsheets show for a date outside their range. */
const NO_DATE = "#####";
const LAST_MS = Date.UTC(10_000, 0, 1);

/** Whether a format that workbooks don't write out shows dates: international, East Asian and Thai ones. */
function isBuiltInDate(id: number): boolean {
  return (
    (id >= 14 && id <= 22) ||
    (id >= 27 && id <= 36) ||
    (id >= 45 && id <= 47) ||
    (id >= 50 && id <= 58) ||
    (id >= 71 && id <= 81)
  );
}
/** `[h]:mm:ss` */
const BUILT_IN_DURATION = 46;

/** What the number format of a cell makes of its number. @param code undefined for a format that isn't written out */
export function kindOfFormat(id: number, code: string | undefined): NumberKind {
  if (code === undefined) {
    if (id === BUILT_IN_DURATION) return "duration";
    return isBuiltInDate(id) ? "date" : "number";
  }
  const plain = code.replaceAll(/"[^"]*"|[\\_*]./g, " ");
  if (/\[(?:h+|m+|s+)\]/i.test(plain)) return "duration";
  const isDate = plain
    .replaceAll(/\[[^\]]*\]|am\/pm|a\/p|\.0+/gi, "")
    .split(";")
    .some(
      (section) =>
        /[dhmsy]|a{3}/i.test(section) &&
        !/[#0?]|[acf-gi-ln-rt-xz]/i.test(section.replaceAll(/g+e+|e+|b+|a{3,4}/gi, "")),
    );
  return isDate ? "date" : "number";
}

/** Parts of a number format: placeholders of digits, texts, and what has no characters or only a space. */
const DIGITS: ReadonlySet<string> = new Set(["zero", "hash", "qmark", "general"]);
const TEXTS: ReadonlySet<string> = new Set(["string", "escaped", "char", "minus", "plus", "paren", "slash", "space"]);
const SILENT: ReadonlySet<string> = new Set(["color", "skip", "fill"]);
/** A sign or code of a currency before a number. */
const CURRENCY = new RegExp(
  String.raw`\p{Sc}|^\s*(?:${Intl.supportedValuesOf("currency").join("|")}|Rs\.?|kr\.?)\s*$`,
  "iu",
);

/**
 * What a number format that somebody chose for IDs shows of a whole number: zeros before it, or a text, as in `"INC"0000000`.
 * Undefined for any other format: currencies, groups and decimals are shown for amounts, and a text after a number is its unit.
 */
export function shownIds(code: string | undefined): ((number: number) => string) | undefined {
  if (code === undefined || kindOfFormat(-1, code) !== "number") return undefined;
  let parts: ReturnType<typeof tokenize>;
  try {
    parts = tokenize(code);
  } catch {
    return undefined;
  }
  const end = parts.findIndex(({ type }) => type === "break");
  const section = end === -1 ? parts : parts.slice(0, end);
  const first = section.findIndex(({ type }) => DIGITS.has(type));
  const before = section.slice(0, Math.max(first, 0)).filter(({ type }) => TEXTS.has(type));
  const text = before.map(({ value }) => String(value)).join("");
  const isPadded = section.filter(({ type }) => type === "zero").length > 1;
  const isPlain = section.every(({ type }) => DIGITS.has(type) || TEXTS.has(type) || SILENT.has(type));
  if (first === -1 || !isPlain || CURRENCY.test(text) || !(isPadded || /[\p{L}#]/u.test(text))) return undefined;
  return (number) => format(code, number).trim();
}

/** The ids of `0.00E+00` and `##0.0E+0`, which workbooks don't write out. */
const EXPONENTS: ReadonlySet<number> = new Set([11, 48]);
const NINE_DIGITS = 123_456_789;

/** Whether a number format shows less than all digits of a whole number: none, thousands, or an exponent. */
export function hidesDigits(id: number, code: string | undefined): boolean {
  if (code === undefined) return EXPONENTS.has(id);
  try {
    const digits = format(code, NINE_DIGITS).replaceAll(/\D/g, "");
    return kindOfFormat(id, code) === "number" && !digits.includes(String(NINE_DIGITS));
  } catch {
    return false;
  }
}

/** Hours, minutes and seconds. */
function textOfDuration(milliseconds: number): string {
  const rest = new Date(Math.abs(milliseconds) % 3_600_000)
    .toISOString()
    .slice(13, -1)
    .replace(/\.000$/, "");
  const hours = Math.floor(Math.abs(milliseconds) / 3_600_000);
  return `${milliseconds < 0 ? "-" : ""}${String(hours).padStart(2, "0")}${rest}`;
}

/** Date and time as ISO 8601, without offset because workbooks have no time zones. */
function textOfMoment(time: number): string {
  const [day = "", clock = ""] = new Date(time)
    .toISOString()
    .replace(/(?:\.000)?Z$/, "")
    .split("T");
  return clock === "00:00:00" ? day : `${day} ${clock}`;
}

/** Days as milliseconds. A second isn't an exact fraction of a day: a time that is a millisecond off is rounded. */
function millisecondsOf(days: number): number {
  const time = Math.round(days * DAY_MS);
  const second = Math.round(time / 1000) * 1000;
  return Math.abs(time - second) <= 1 ? second : time;
}

/**
 * A number of days as the date, time or duration that its cell shows. Times in the first days of workbooks are
 * durations (`30:05:00`), because real dates are rare there.
 */
function textOfDays(days: number, kind: NumberKind, system: DateSystem): string {
  const elapsed = millisecondsOf(days);
  if (kind === "duration" && Math.abs(elapsed) < LAST_MS) return textOfDuration(elapsed);
  const time = DAY_ZERO_MS[system] + elapsed;
  if (!(elapsed >= 0 && time < LAST_MS)) return NO_DATE;
  const isEarly = days < MARCH_1900;
  if (isEarly && (elapsed < DAY_MS || elapsed % DAY_MS !== 0)) return textOfDuration(elapsed);
  return textOfMoment(isEarly && system === 1900 ? time + DAY_MS : time);
}

/** A cell's number as text, with all digits of a whole number; undefined if it isn't a number. */
export function textOfNumber(value: string, kind: NumberKind, system: DateSystem): string | undefined {
  const text = value.trim();
  const number = Number(text);
  if (text === "" || !Number.isFinite(number)) return undefined;
  if (kind !== "number") return textOfDays(number, kind, system);
  return /^-?[1-9]\d*$/.test(text) ? text : JSON.stringify(number);
}

const ISO_DATE = /^(\d{4}-\d\d-\d\d)?(?:T?(\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?Z?$/;
const ISO_DURATION = /^(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/;

/** A date, time or duration in ISO 8601, written like one that is stored as a number. */
export function textOfIso(value: string): string {
  const text = value.trim();
  const [, sign, days = 0, hours = 0, minutes = 0, seconds = 0] = ISO_DURATION.exec(text) ?? [];
  if (sign !== undefined) {
    const elapsed = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
    return textOfDuration((sign === "-" ? -1 : 1) * Math.round(elapsed * 1000));
  }
  const [, day, clock = ""] = ISO_DATE.exec(text) ?? [];
  const time = (clock.length === 5 ? `${clock}:00` : clock).replace(/\.0+$/, "");
  if (day === undefined) return time === "" ? text : time;
  return time === "" || time === "00:00:00" ? day : `${day} ${time}`;
}
