import { createTimeReader } from "./date-time.ts";
import type { Source } from "./mapping.ts";

const DATES = ["dd-MM-yyyy", "dd.MM.yyyy", "dd/MM/yyyy", "MM/dd/yyyy", "MM-dd-yyyy", "yyyy/MM/dd", "yyyy-MM-dd"];
const SHORT_DATES = ["dd.MM.yy", "dd/MM/yy", "MM/dd/yy", "dd/MMM/yy", "d MMM yyyy", "MMM d, yyyy"];
const TIMES = ["", " HH:mm", " HH:mm:ss", " h:mm a", " h:mm:ss a"];

/** Formats that are tried, day before month where both fit. */
export const TIME_FORMATS: readonly string[] = [
  "iso",
  ...[...DATES, ...SHORT_DATES].flatMap((date) => TIMES.map((time) => date + time)),
  "unix_ms",
  "unix",
];
/** Digits of times since 1970 that are meant: numbers that are shorter may be anything. */
const DIGITS: Readonly<Record<string, number>> = { unix: 10, unix_ms: 13 };
/** So many different values show how times are written. */
const VALUES_MAX = 100;

/** Reads a text by a format. @returns ISO 8601 in UTC; undefined if it does not fit */
export function readTime(text: string, format: string, timeZone: string | undefined): string | undefined {
  return createReader(format, timeZone)(text);
}

function createReader(format: string, timeZone: string | undefined): (text: string) => string | undefined {
  const digits = DIGITS[format];
  const read = createTimeReader({ format, timeZone }, ".");
  return (text) => {
    if (digits !== undefined && text.trim().length !== digits) return undefined;
    try {
      return read(text);
    } catch {
      return undefined;
    }
  };
}

function countRead(values: readonly string[], format: string, timeZone: string | undefined): number {
  const read = createReader(format, timeZone);
  return values.filter((value) => read(value) !== undefined).length;
}

function sampleOf(values: readonly string[]): string[] {
  return [...new Set(values)].slice(0, VALUES_MAX);
}

/**
 * Of the usual formats those that read the most values, if they read most of them: some cells may be wrong. A value that
 * many rows share counts as often as it occurs, so that a few wrong ones weigh what they are.
 */
export function formatsOf(values: readonly string[], timeZone: string): string[] {
  const sample = new Set(sampleOf(values));
  const occurrences = Map.groupBy(
    values.filter((value) => sample.has(value)),
    (value) => value,
  );
  const total = [...occurrences.values()].reduce((sum, { length }) => sum + length, 0);
  const counts = TIME_FORMATS.map((format) => {
    const read = createReader(format, timeZone);
    return [...occurrences].reduce((sum, [value, { length }]) => sum + (read(value) === undefined ? 0 : length), 0);
  });
  const most = Math.max(...counts);
  if (most === 0 || most < total / 2) return [];
  return TIME_FORMATS.filter((_, index) => counts[index] === most);
}

/** The same format with day and month exchanged; undefined if its month isn't a number. */
function swappedFormat(format: string): string | undefined {
  const swapped = format.replace(/^(dd|MM)([-./])(dd|MM)/, "$3$2$1");
  return swapped === format ? undefined : swapped;
}

/** The two formats of values that do not show whether the day or the month comes first; undefined if they do. */
export function dayOrMonthOf(fitting: readonly string[]): readonly [string, string] | undefined {
  const [first] = fitting;
  const swapped = first === undefined ? undefined : swappedFormat(first);
  return first !== undefined && swapped !== undefined && fitting.includes(swapped) ? [first, swapped] : undefined;
}

/** A value that a format reads, if there is one: one that shows the difference between day and month, if it can. */
export function exampleOf(values: readonly string[], format: string, timeZone: string): string | undefined {
  const read = createReader(format, timeZone);
  const fitting = sampleOf(values).filter((value) => read(value) !== undefined);
  const swapped = swappedFormat(format);
  const readSwapped = swapped === undefined ? undefined : createReader(swapped, timeZone);
  return fitting.find((value) => readSwapped && readSwapped(value) !== read(value)) ?? fitting[0];
}

/** Format and zone of times that a format reads: the zone only if they need one. */
export function timeOptionsOf(
  values: readonly string[],
  format: string,
  timeZone: string,
): Pick<Source, "format" | "time_zone"> {
  const sample = sampleOf(values);
  const isIso = format === "iso";
  const hasOffsets = isIso && countRead(sample, format, undefined) === countRead(sample, format, timeZone);
  const needsZone = !(format in DIGITS) && !(hasOffsets && sample.length > 0);
  return { ...(!isIso && { format }), ...(needsZone && { time_zone: timeZone }) };
}
