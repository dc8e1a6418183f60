import { createTimeReader } from "../../../lib/uploads/mapping/date-time.ts";
import type { Source } from "../../../lib/uploads/mapping/mapping.ts";
import type { Shape } from "./survey.ts";

const DATES = ["dd-MM-yyyy", "dd.MM.yyyy", "dd/MM/yyyy", "MM/dd/yyyy", "MM-dd-yyyy", "yyyy/MM/dd", "yyyy-MM-dd"];
// No locale puts the month first where dots stand between the numbers.
const SHORT_DATES = ["dd.MM.yy", "dd/MM/yy", "MM/dd/yy", "yy/MM/dd", "dd-MM-yy", "MM-dd-yy", "yy-MM-dd"];
const NAMED_MONTHS = [
  "dd/MMM/yy",
  "dd-MMM-yy",
  "dd-MMM-yyyy",
  "d MMM yyyy",
  "MMM d, yyyy",
  "d MMMM yyyy",
  "MMMM d, yyyy",
];
const HOURS = ["HH:mm", "HH:mm:ss", "h:mm a", "h:mm:ss a"];

/** The formats of dates, alone and with what may stand between them and the time. */
function formatsWith(between: string): string[] {
  const times = HOURS.map((hours) => between + hours);
  return [...DATES, ...SHORT_DATES, ...NAMED_MONTHS].flatMap((date) => ["", ...times].map((time) => date + time));
}
/** Formats to choose from. */
export const TIME_FORMATS: readonly string[] = ["iso", ...formatsWith(" "), "unix_ms", "unix"];
/** Formats that are tried. Scripts and reports write a comma before the time. */
const TRIED_FORMATS = [...new Set([...TIME_FORMATS, ...formatsWith(", ")])];
/** Digits of times since 1970 that are meant: numbers that are shorter may be anything. */
const DIGITS: Readonly<Record<string, number>> = { unix: 10, unix_ms: 13 };

type Reader = (text: string) => string | undefined;

function createReader(format: string, timeZone: string | undefined): Reader {
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

/** Reads a text by a format. @returns ISO 8601 in UTC; undefined if it does not fit */
export function readTime(text: string, format: string, timeZone: string | undefined): string | undefined {
  return createReader(format, timeZone)(text);
}

/** Days since 1900, as spreadsheets keep dates; or numbers with letters or other signs between them than in a time of day. */
const DATE_LIKE = /^[2-9]\d{4}(?:[.,]\d+)?$|^(?=(?:.*\d){4}).*\d(?:[^\d:.,]|\.\d+\.).*\d/;
/** Whether a text looks like a date, whatever its format. */
export function looksLikeDate(text: string): boolean {
  return DATE_LIKE.test(text.trim());
}

/** How the date-times of a column can be read. */
export interface TimeReadings {
  /** The formats that read the most rows. Those that read every cell alike are one; more than one are a question. */
  readonly formats: readonly [string, ...string[]];
  /** A cell that shows the difference between them, if there is one. */
  readonly example: string;
  /** Rows with a value, and those of them that the formats read. */
  readonly rows: number;
  readonly readRows: number;
  /** A date-time that only other formats read; undefined if there is none. */
  readonly other: string | undefined;
  /** Whether a cell has no offset from UTC, so that its time zone must be known. */
  readonly needsZone: boolean;
}

function countRows(shapes: readonly Shape[]): number {
  return shapes.reduce((sum, { rows }) => sum + rows, 0);
}

/** What was found out: a page asks at each change. */
const known = new WeakMap<readonly Shape[], TimeReadings | "none">();

/** How the cells of a column can be read as date-times, if at least half of the rows can; undefined if they are something else. */
export function timeReadingsOf(shapes: readonly Shape[]): TimeReadings | undefined {
  const found = known.get(shapes) ?? findReadings(shapes) ?? "none";
  known.set(shapes, found);
  return found === "none" ? undefined : found;
}

/** Readers of all formats, made when they are first used. */
let readers: readonly { readonly format: string; readonly read: Reader }[] | undefined;

function findReadings(shapes: readonly Shape[]): TimeReadings | undefined {
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
  const best = readings.filter((reading) => reading.rows === readRows);
  const examples = best[0]!.fitting.flatMap((shape) => shape.examples);
  const byMeaning = new Map<string, (typeof best)[number]>();
  for (const reading of best.toReversed()) byMeaning.set(examples.map(reading.read).join(), reading);
  const [first, ...different] = best.filter((reading) => [...byMeaning.values()].includes(reading));
  // A format that only reads other cells isn't another meaning of these.
  const others = different.filter(({ read }) => examples.some((text) => read(text) !== undefined));
  const isTelling = (text: string): boolean =>
    others.every(({ read }) => ![undefined, first!.read(text)].includes(read(text)));
  const rest = [...isDate].find((shape) => ![first!, ...others].every(({ fitting }) => fitting.includes(shape)));
  return {
    formats: [first!.format, ...others.map(({ format }) => format)],
    example: examples.find((text) => first!.read(text) !== undefined && isTelling(text)) ?? examples[0]!,
    rows,
    readRows,
    other: rest?.examples[0],
    needsZone: needsZone(first!.format, examples),
  };
}

/** Whether texts of a format have no offset from UTC. */
function needsZone(format: string, texts: readonly string[]): boolean {
  if (format in DIGITS) return false;
  if (format !== "iso") return true;
  const [read, readWithZone] = [createReader(format, undefined), createReader(format, "UTC")];
  return texts.some((text) => read(text) === undefined && readWithZone(text) !== undefined);
}

/** Format and zone of times that a format reads: the zone only if they need one. */
export function timeOptionsOf(
  format: string,
  { needsZone: isLocal }: Pick<TimeReadings, "needsZone">,
  timeZone: string,
): Pick<Source, "format" | "time_zone"> {
  return { ...(format !== "iso" && { format }), ...(isLocal && { time_zone: timeZone }) };
}
