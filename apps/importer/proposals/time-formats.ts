import { hasOffset } from "@work-items/lib/uploads/mapping/date-pattern.ts";
import { createTimeReader } from "@work-items/lib/uploads/mapping/date-time.ts";
import type { Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { DIGIT_FORMATS, digitFormatsOf } from "./digit-dates.ts";
import type { Shape } from "./survey.ts";

const DATES = ["dd-MM-yyyy", "dd.MM.yyyy", "dd/MM/yyyy", "MM/dd/yyyy", "MM-dd-yyyy", "yyyy/MM/dd", "yyyy-MM-dd"];
// No locale puts the month first in dates with dots.
const SHORT_DATES = ["dd.MM.yy", "dd/MM/yy", "MM/dd/yy", "yy/MM/dd", "dd-MM-yy", "MM-dd-yy", "yy-MM-dd"];
const NAMED_MONTHS = [
  "dd/MMM/yy",
  "dd-MMM-yy",
  "dd-MMM-yyyy",
  "d MMM yyyy",
  "MMM d, yyyy",
  "d MMMM yyyy",
  "MMMM d, yyyy",
  "yyyy年M月d日",
];
const HOURS = ["HH:mm", "HH:mm:ss", "h:mm a", "h:mm:ss a", "h:mma", "h:mm:ssa"];

/** The formats of dates, without and with a time. @param between separates date and time */
function formatsWith(between: string): string[] {
  const times = HOURS.map((hours) => between + hours);
  return [...DATES, ...SHORT_DATES, ...NAMED_MONTHS].flatMap((date) => ["", ...times].map((time) => date + time));
}
const TIME_FORMATS: readonly string[] = ["iso", ...formatsWith(" "), "unix_ms", "unix"];
/** Dates with the day of the week: of emails ("Sat, 02 Mar 2024 10:00:00 +0100"), and of scripts that run in UTC. */
const WEEKDAY_FORMATS = [
  ...["EEE", "EEEE"].flatMap((weekday) =>
    ["d MMM yyyy", "MMM d, yyyy", "d MMMM yyyy", "MMMM d, yyyy"].flatMap((date) =>
      ["", ...HOURS.map((hours) => ` ${hours}`), " HH:mm:ss xx"].map((time) => `${weekday}, ${date}${time}`),
    ),
  ),
  ...["", " '(GMT)'", " '(UTC)'", " '(Coordinated Universal Time)'"].map(
    (zone) => `EEE MMM d yyyy HH:mm:ss 'GMT'xx${zone}`,
  ),
];
/** Formats to try. Scripts and reports write a comma before the time. */
const TRIED_FORMATS = [...new Set([...TIME_FORMATS, ...formatsWith(", "), ...DIGIT_FORMATS, ...WEEKDAY_FORMATS])];
/** Number of digits before a fraction in times since 1970. Other numbers may mean anything. */
const DIGITS: Readonly<Record<string, number>> = { unix: 10, unix_ms: 13 };
/** Least number of digits in dates of digits only. */
const DIGITS_MIN = 8;

/** The number of digits before a fraction. */
function countDigits(text: string): number {
  return /^\d*/.exec(text)![0].length;
}

type Reader = (text: string) => string | undefined;

/** Makes the function that reads texts by a format. It returns ISO 8601 in UTC; undefined if a text doesn't fit. */
export function createReader(format: string, timeZone: string | undefined): Reader {
  const digits = DIGITS[format];
  const read = createTimeReader({ format, timeZone }, ".");
  const isOfDigits = DIGIT_FORMATS.includes(format);
  const hasWeekday = WEEKDAY_FORMATS.includes(format);
  return (text) => {
    const cell = text.trim();
    if (hasWeekday && !/^\p{L}/u.test(cell)) return undefined;
    if (digits !== undefined && countDigits(cell) !== digits) return undefined;
    // date-fns also accepts fewer digits.
    if (isOfDigits && !digitFormatsOf(cell).includes(format)) return undefined;
    try {
      return read(text);
    } catch {
      return undefined;
    }
  };
}

/** Reads a text by a format. @returns ISO 8601 in UTC; undefined if it does not fit */
export function readTime(text: string, format: string, timeZone: string | undefined): string | undefined {
  return createReader(format, timeZone)(text);
}

/** Numbers by which programs store times and which no format reads. */
const COUNTS = [
  ["a spreadsheet's day number", /^[2-9]\d{4}(?:[.,]\d+)?$/],
  ["a Unix time in microseconds", /^\d{16}(?:[.,]\d+)?$/],
  ["a Unix time in nanoseconds", /^\d{19}$/],
] as const;

/** What such a number is; undefined if unknown. */
export function countOfTime(text: string): string | undefined {
  return COUNTS.find(([, pattern]) => pattern.test(text.trim()))?.[0];
}

/** Whether a text is a time of day without a date. */
export function isClock(text: string): boolean {
  return /^\d{1,2}(?:[:.h]\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:\s?[ap]\.?\s?m\.?|\s?uhr)?$/i.test(text);
}

/** Four or more digits with separators that times of day don't have, or as many digits as a date or a Unix time. */
const DATE_LIKE = /^(?=(?:.*\d){4}).*\d(?:[^\d:.,]|\.\d+\.).*\d|^\d{8,}(?:[.,]\d+)?(?:Z|[+-]\d{4})?$/;
/** Whether a text looks like a date, whatever its format. */
export function looksLikeDate(text: string): boolean {
  return DATE_LIKE.test(text.trim()) || countOfTime(text) !== undefined;
}

const FIRST_PLAUSIBLE_MS = Date.UTC(2000, 0, 1);
export const DAY_MS = 86_400_000;
/** Whether work may have been completed then: since 2000, and not in the future. */
function isPlausible(time: string | undefined, now: number): boolean {
  return time !== undefined && Date.parse(time) >= FIRST_PLAUSIBLE_MS && !isFuture(time, now);
}

/** Whether a time is in the future in all time zones. */
export function isFuture(time: string, now: number): boolean {
  return Date.parse(time) >= now + DAY_MS;
}

/** How the date-times of a column can be read. */
export interface TimeReadings {
  /** The formats that read the most rows, one for each way of reading. A person chooses from several. */
  readonly formats: readonly [string, ...string[]];
  /** A cell that shows their difference. */
  readonly example: string;
  /** Number of rows with a value. */
  readonly rows: number;
  /** Number of these that the formats read. */
  readonly readRows: number;
  /** A date-time that only other formats read; undefined without one. */
  readonly other: string | undefined;
  /** Whether a spreadsheet has perhaps converted some dates, with day and month swapped, and left the others as texts. */
  readonly isHalfConverted: boolean;
  /** A cell whose time would be before 2000 or in the future; undefined without one. */
  readonly implausible: { readonly text: string; readonly time: string } | undefined;
  /** Whether a cell has no UTC offset, so that a time zone is needed. */
  readonly needsZone: boolean;
}

/** The number of rows with cells of some shapes. */
export function countRows(shapes: readonly Shape[]): number {
  return shapes.reduce((sum, { rows }) => sum + rows, 0);
}

/** Cache: the page asks at each change. */
const known = new WeakMap<readonly Shape[], { readonly day: number; readonly readings: TimeReadings | undefined }>();

/**
 * How to read a column as date-times; undefined if less than half of its rows can be read so.
 * @param now the time in milliseconds: later ones are implausible
 */
export function timeReadingsOf(shapes: readonly Shape[], now: number): TimeReadings | undefined {
  const day = Math.floor(now / DAY_MS);
  const last = known.get(shapes);
  if (last?.day === day) return last.readings;
  const readings = findReadings(shapes, now);
  known.set(shapes, { day, readings });
  return readings;
}

/** Readers of all formats, made at first use. */
let readers: readonly { readonly format: string; readonly read: Reader }[] | undefined;

function findReadings(shapes: readonly Shape[], now: number): TimeReadings | undefined {
  // Every format has digits.
  if (!shapes.some(({ examples }) => examples.some((text) => /\d/.test(text)))) return undefined;
  readers ??= TRIED_FORMATS.map((format) => ({ format, read: createReader(format, "UTC") }));
  const readings = readers.map(({ format, read }) => {
    const fitting = shapes.filter(({ examples }) => examples.some((text) => read(text) !== undefined));
    return { format, fitting, rows: countRows(fitting), read };
  });
  const isDate = new Set(readings.flatMap(({ fitting }) => fitting));
  const rows = countRows(shapes);
  if (isDate.size === 0 || countRows([...isDate]) < rows / 2) return undefined;
  const readRows = Math.max(...readings.map((reading) => reading.rows));
  const most = readings.filter((reading) => reading.rows === readRows);
  const examples = most[0]!.fitting.flatMap((shape) => shape.examples);
  // Several formats read the same digits. Ignore those whose times are implausible.
  const isOfDigits = examples.every((text) => countDigits(text) >= DIGITS_MIN);
  const plausible = most.filter(({ read }) => examples.some((text) => isPlausible(read(text), now)));
  const best = isOfDigits && plausible.length > 0 ? plausible : most;
  const byMeaning = new Map<string, (typeof best)[number]>();
  for (const reading of best.toReversed()) byMeaning.set(examples.map(reading.read).join(), reading);
  const [first, ...different] = best.filter((reading) => [...byMeaning.values()].includes(reading));
  // A format that reads none of these cells isn't another meaning of them.
  const others = different.filter(({ read }) => examples.some((text) => read(text) !== undefined));
  const isTelling = (text: string): boolean =>
    others.every(({ read }) => ![undefined, first!.read(text)].includes(read(text)));
  const telling = examples.filter((text) => first!.read(text) !== undefined && isTelling(text));
  // A date that one of the formats puts into the future shows best which is right.
  const formats = [first!, ...others];
  const apart = telling.filter((text) => new Set(formats.map(({ read }) => isFuture(read(text) ?? "", now))).size > 1);
  const shown = apart.length > 0 ? apart : telling;
  const unlikely = examples.find((text) => first!.read(text) !== undefined && !isPlausible(first!.read(text), now));
  const rest = [...isDate].find((shape) => !formats.every(({ fitting }) => fitting.includes(shape)));
  return {
    formats: [first!.format, ...others.map(({ format }) => format)],
    example: shown.find((text) => needsZone(first!.format, [text])) ?? shown[0] ?? examples[0]!,
    rows,
    readRows,
    other: rest?.examples[0],
    isHalfConverted: isHalfConverted(first!, examples, rest),
    implausible: unlikely === undefined ? undefined : { text: unlikely, time: first!.read(unlikely)! },
    needsZone: needsZone(first!.format, examples),
  };
}

/** A date whose month would be above 12 if its day and month were swapped, with a year. */
const UNCONVERTED =
  /^(?:(?:1[3-9]|2\d|3[01])([/.-])(?:0?[1-9]|1[0-2])|(?:0?[1-9]|1[0-2])([/.-])(?:1[3-9]|2\d|3[01]))[/.-]\d{2,4}\b/;

/** Spreadsheets convert texts whose day could be a month, and leave others. @param examples of all shapes of dates */
function isHalfConverted(
  { read }: { readonly read: Reader },
  examples: readonly string[],
  rest: Shape | undefined,
): boolean {
  const dates = examples.flatMap((text) => read(text) ?? []);
  return (
    rest?.examples.every((text) => UNCONVERTED.test(text.trim())) === true &&
    dates.every((date) => new Date(date).getUTCDate() <= 12)
  );
}

function needsZone(format: string, texts: readonly string[]): boolean {
  if (format in DIGITS || hasOffset(format)) return false;
  if (format !== "iso") return true;
  const read = createReader(format, undefined);
  const readWithZone = createReader(format, "UTC");
  return texts.some((text) => read(text) === undefined && readWithZone(text) !== undefined);
}

/** The options of a source with a format. The time zone is only given if it is needed. */
export function timeOptionsOf(
  format: string,
  { needsZone: isLocal }: Pick<TimeReadings, "needsZone">,
  timeZone: string,
): Pick<Source, "format" | "time_zone"> {
  return { ...(format !== "iso" && { format }), ...(isLocal && { time_zone: timeZone }) };
}
