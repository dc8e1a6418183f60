import type { Source } from "../../../lib/uploads/mapping/mapping.ts";
import { isTimeZone } from "../../../lib/uploads/mapping/time-zone.ts";
import type { SurveyedColumn } from "./survey.ts";
import { readTime, type TimeReadings, timeOptionsOf, timeReadingsOf } from "./time-formats.ts";

/** What dates begin with, where their cells don't show it: a number, or the seconds since 1970 that they are. */
export const DATE_ORDERS = ["day-first", "month-first", "year-first", "unix"] as const;
/** One of `DATE_ORDERS`. */
export type DateOrder = (typeof DATE_ORDERS)[number];

/** What is known of a file's date-times beside their cells. */
export interface TimeAnswers {
  /** IANA zone of times without offset. */
  readonly timeZone: string;
  /** Whether a person chose that zone. @default false */
  readonly isZoneChosen?: boolean | undefined;
  readonly dateOrder?: DateOrder | undefined;
}

/** What only a person can say of a date-time's column. */
export type TimeQuestion =
  | { readonly kind: "date"; readonly column: string; readonly example: string; readonly formats: readonly string[] }
  | { readonly kind: "zone"; readonly column: string; readonly timeZone: string };

/** How a column of date-times is proposed to be read. */
export interface ProposedTime {
  readonly source: Source;
  readonly questions: readonly TimeQuestion[];
  /** What speaks against the proposal. */
  readonly doubts: readonly string[];
}

const INITIALS: Readonly<Record<DateOrder, string>> = {
  "day-first": "d",
  "month-first": "M",
  "year-first": "y",
  unix: "u",
};

/** What a date of a format begins with. */
export function orderOf(format: string): DateOrder {
  return DATE_ORDERS.find((order) => format.startsWith(INITIALS[order])) ?? "year-first";
}

/** What a format makes of a cell, such as "2 March 2024". */
export function shownReading(text: string, format: string): string {
  const time = readTime(text, format, "UTC");
  if (time === undefined) return text;
  return new Date(time).toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" });
}

/** A question about a date, such as `02/03/2024: 2 March 2024 or 3 February 2024?`. */
export function shownQuestion({ example, formats }: Extract<TimeQuestion, { kind: "date" }>): string {
  return `${example}: ${formats.map((format) => shownReading(example, format)).join(" or ")}?`;
}

/**
 * Rows of another format that are worth a look: one in ten, or any that are date-times; and values that are hardly times
 * of completion.
 */
function doubtsOf({ rows, readRows, other, implausible }: TimeReadings): string[] {
  const unread = rows - readRows;
  const isMany = unread > 0 && (other !== undefined || unread >= rows / 10);
  const isDate = other === undefined ? "don't look like dates" : `have another date format, such as "${other}"`;
  const shown = implausible?.time.slice(0, 16).replace("T", " ");
  const when = implausible !== undefined && implausible.time < "2000" ? "before 2000" : "in the future";
  return [
    ...(isMany ? [`${unread} of ${rows} values ${isDate}`] : []),
    ...(implausible === undefined ? [] : [`"${implausible.text}" would be ${shown}, ${when}`]),
  ];
}

const ZONE_IN_NAME = /\s*\(([A-Za-z_]+(?:\/[A-Za-z_+-]+)+|UTC)\)$/;

/** The time zone that a header names, as in "Last closed at (America/New_York)"; undefined if it names none. */
function zoneIn(column: string): string | undefined {
  const zone = ZONE_IN_NAME.exec(column)?.[1];
  return zone !== undefined && isTimeZone(zone) ? zone : undefined;
}

/** A header without the time zone that it names. */
export function withoutZone(column: string): string {
  return zoneIn(column) === undefined ? column : column.replace(ZONE_IN_NAME, "");
}

/** The aliases by which the dates of a column that mean none are empty, in it alone. */
export function withoutNoDates({ noDates }: Pick<SurveyedColumn, "noDates">): Pick<Source, "values"> {
  return noDates.size === 0 ? {} : { values: Object.fromEntries([...noDates.keys()].map((text) => [text, ""])) };
}

/** Proposes how a column is read as date-times; undefined if less than half of its values are some. */
export function proposeTime(column: string, survey: SurveyedColumn, answers: TimeAnswers): ProposedTime | undefined {
  const own = zoneIn(column);
  const {
    timeZone,
    isZoneChosen = false,
    dateOrder,
  } = own ? { ...answers, timeZone: own, isZoneChosen: true } : answers;
  const readings = timeReadingsOf(survey.shapes);
  if (readings === undefined) return undefined;
  const { formats, example, needsZone } = readings;
  const chosen = dateOrder && formats.find((format) => orderOf(format) === dateOrder);
  const questions: TimeQuestion[] = [];
  if (formats.length > 1 && chosen === undefined) questions.push({ kind: "date", column, example, formats });
  if (needsZone && !isZoneChosen) questions.push({ kind: "zone", column, timeZone });
  return {
    source: { column, ...timeOptionsOf(chosen ?? formats[0], readings, timeZone), ...withoutNoDates(survey) },
    questions,
    doubts: doubtsOf(readings),
  };
}

const DATE_OR_TIME = /\b(?:date|time|hour|fecha|hora|heure|uhrzeit)\b|datum\b|zeit\b/g;
/** The column with the times of day of one that has dates alone, by their names: "Closed time" of "Closed date". */
export function timesOfDay<C extends { readonly words: string; readonly values: readonly string[] }>(
  { words, values }: C,
  columns: readonly C[],
): C | undefined {
  const shared = (text: string): string => text.replaceAll(DATE_OR_TIME, "").trim();
  const isTime = (value: string): boolean => /^\d{1,2}(?::\d\d)*(?: ?[ap]\.? ?m\.?)?$/i.test(value.trim());
  if (values.some((value) => value.includes(":"))) return undefined;
  return columns.find(
    (each) => each.words !== words && shared(each.words) === shared(words) && each.values.some(isTime),
  );
}
