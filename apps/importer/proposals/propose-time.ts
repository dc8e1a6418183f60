import type { Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { isTimeZone } from "@work-items/lib/uploads/mapping/time-zone.ts";
import { plainWords } from "./known-headers.ts";
import type { SurveyedColumn } from "./survey.ts";
import { shownDay } from "./shown-time.ts";
import { isFuture, readTime, type TimeReadings, timeOptionsOf, timeReadingsOf } from "./time-formats.ts";

/** What ambiguous dates begin with, or that they are seconds since 1970. */
export const DATE_ORDERS = ["day-first", "month-first", "year-first", "unix"] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

/** What a person knows about a file's date-times. */
export interface TimeAnswers {
  /** IANA zone of times without offset. */
  readonly timeZone: string;
  /** Whether a person chose that zone. @default false */
  readonly isZoneChosen?: boolean | undefined;
  readonly dateOrder?: DateOrder | undefined;
  /** The time in milliseconds: items aren't completed in the future. */
  readonly now: number;
}

/** A question about a column of date-times that only a person can answer. */
export type TimeQuestion =
  | { readonly kind: "date"; readonly column: string; readonly example: string; readonly formats: readonly string[] }
  | { readonly kind: "zone"; readonly column: string; readonly timeZone: string };

/** Why a date-time is only likely, by its question. */
export const DOUBTS = { date: "day or month first isn't clear", zone: "its time zone isn't known" } as const;

/** What dates in a format begin with: both begin with the same letter. */
export function orderOf(format: string): DateOrder {
  return DATE_ORDERS.find((order) => format.charAt(0).toLowerCase() === order.charAt(0)) ?? "year-first";
}

/** A cell as a format reads it, such as "2 Mar 2024". */
export function shownReading(text: string, format: string): string {
  const time = readTime(text, format, "UTC");
  if (time === undefined) return text;
  return isFuture(time, Date.now()) ? `${shownDay(time)}, in the future` : shownDay(time);
}

/** A question about a date, such as `02/03/2024: 2 Mar 2024 or 3 Feb 2024?`. */
export function shownQuestion({ example, formats }: Extract<TimeQuestion, { kind: "date" }>): string {
  return `${example}: ${formats.map((format) => shownReading(example, format)).join(" or ")}?`;
}

/** Doubts about unread rows and about implausible dates. */
function doubtsOf({ rows, readRows, other, implausible, isHalfConverted }: TimeReadings): string[] {
  const unread = rows - readRows;
  const isDate = other === undefined ? "don't look like dates" : `have another date format, such as "${other}"`;
  const shown = implausible && shownDay(implausible.time);
  const when = implausible !== undefined && implausible.time < "2000" ? "before 2000" : "in the future";
  return [
    ...(unread > 0 ? [`${unread} of ${rows} values ${isDate}`] : []),
    ...(unread > 0 && isHalfConverted
      ? ["a spreadsheet seems to have converted only some dates, so day and month of the others may be swapped"]
      : []),
    ...(implausible === undefined ? [] : [`"${implausible.text}" would be ${shown}, ${when}`]),
  ];
}

/** Zones by what people call them: names of one zone, and letters that may mean several. */
const CALLED: Readonly<Record<string, string>> = {
  pacific: "America/Los_Angeles",
  mountain: "America/Denver",
  central: "America/Chicago",
  eastern: "America/New_York",
  pt: "America/Los_Angeles",
  mt: "America/Denver",
  ct: "America/Chicago",
  et: "America/New_York",
  cet: "Europe/Berlin",
  mez: "Europe/Berlin",
  bst: "Europe/London",
  ist: "Asia/Kolkata",
  jst: "Asia/Tokyo",
  aet: "Australia/Sydney",
};
/** What stands in parentheses at the end of a header, or "UTC" at its end. */
const AT_END = /\s*\(([^()]+)\)$|[\s_-]+(UTC|GMT)$/i;

/** The time zone of a text such as "America/New_York", "UTC", "GMT+1", "Pacific Time" or "EST". It is sure if it has one meaning. */
function zoneOfText(text: string) {
  const words = text.trim().toLowerCase();
  if (/^(?:utc|gmt|z|zulu)(?: time)?$/.test(words)) return { zone: "UTC", isSure: true };
  if (text.includes("/") && isTimeZone(text)) return { zone: text, isSure: true };
  const [, sign, hours = "", minutes = "00"] = /^(?:utc|gmt) ?([+-])0?(\d{1,2})(?::?(\d\d))?$/.exec(words) ?? [];
  // The names of these zones have the opposite sign.
  const whole = `Etc/GMT${sign === "+" ? "-" : "+"}${hours}`;
  // Offsets of half hours have no such names: a person says which zone it is.
  if (sign !== undefined && minutes !== "00") return { zone: undefined, isSure: false };
  if (sign !== undefined && isTimeZone(whole)) return { zone: whole, isSure: false };
  // PST and PDT are PT in winter and in summer.
  const called = words.replace(/ (?:standard |daylight )?time$/, "");
  const found = CALLED[called] ?? CALLED[called.replace(/^(\w{1,2})[sd]t$/, "$1t").replace(/^cest$/, "cet")];
  return found === undefined ? undefined : { zone: found, isSure: false };
}

/** The time zone that a person names: "Europe/Berlin", or a city such as "Berlin" or "new york"; undefined if none is called so. */
export function zoneNamed(text: string): string | undefined {
  if (isTimeZone(text)) return text;
  const words = plainWords(text);
  const zones = Intl.supportedValuesOf("timeZone").filter((zone) => plainWords(zone.split("/").at(-1)!) === words);
  return zones.length === 1 ? zones[0] : undefined;
}

/** The time zone in a header such as "Last closed at (America/New_York)" or "closed_at_utc"; undefined without one. */
function zoneIn(column: string) {
  const [, inParentheses, atEnd] = AT_END.exec(column) ?? [];
  const text = inParentheses ?? atEnd;
  return text === undefined ? undefined : zoneOfText(text);
}

/** A header without its time zone. */
export function withoutZone(column: string): string {
  return zoneIn(column) === undefined ? column : column.replace(AT_END, "");
}

/** The column of a source of date-times by which its questions are known: that whose header names a time zone, or the first. */
export function zonedColumn({ column, columns = [] }: Source): string | undefined {
  return column ?? columns.find((each) => zoneIn(each) !== undefined) ?? columns[0];
}

/** Aliases by which a column's placeholders for missing dates are empty. */
export function withoutNoDates({ noDates }: Pick<SurveyedColumn, "noDates">): Pick<Source, "values"> {
  return noDates.size === 0 ? {} : { values: Object.fromEntries([...noDates.keys()].map((text) => [text, ""])) };
}

/**
 * Proposes how to read a column as date-times, or two joined ones; undefined if less than half of its values are date-times.
 * @returns its source, questions, and what speaks against it
 */
export function proposeTime(source: Source, survey: SurveyedColumn, answers: TimeAnswers) {
  const column = zonedColumn(source)!;
  const origin = source.columns ? { columns: source.columns } : { column };
  const own = zoneIn(column);
  const { isZoneChosen = false, dateOrder = survey.dateOrder } = answers;
  // Where it has several meanings, it is only offered, unless a person has chosen another.
  const isOwn = own?.zone !== undefined && (own.isSure || !isZoneChosen);
  const timeZone = isOwn ? own.zone : answers.timeZone;
  const isZoneKnown = isOwn ? own.isSure : isZoneChosen;
  const readings = timeReadingsOf(survey.shapes, answers.now);
  if (readings === undefined) return undefined;
  const { formats, example, needsZone } = readings;
  const chosen = dateOrder && formats.find((format) => orderOf(format) === dateOrder);
  const questions: TimeQuestion[] = [];
  if (formats.length > 1 && chosen === undefined) questions.push({ kind: "date", column, example, formats });
  if (needsZone && !isZoneKnown) questions.push({ kind: "zone", column, timeZone });
  return {
    source: { ...origin, ...timeOptionsOf(chosen ?? formats[0], readings, timeZone), ...withoutNoDates(survey) },
    questions,
    doubts: doubtsOf(readings),
  };
}
