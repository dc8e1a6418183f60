import { emptyRowsOf } from "./certainty.ts";
import type { NamedColumn } from "./kept-columns.ts";
import { firstSpellings, plainWords } from "./known-headers.ts";
import { withoutZone } from "./propose-time.ts";
import type { Survey, SurveyedColumn } from "./survey.ts";
import { createReader, isClock, timeReadingsOf } from "./time-formats.ts";

/** A column of dates, and one with their times of day. */
export interface TimePair {
  /** Both as one source. */
  readonly source: { readonly columns: string[] };
  readonly indexes: readonly [date: number, clock: number];
  /** What both names are about, if they differ only in words such as date and time. */
  readonly subject: string | undefined;
  /** What their joined values are like; undefined if they can't be read together. */
  readonly survey: SurveyedColumn | undefined;
}

const DATE_OR_TIME = /(?:date|time|datum|zeit)\b|\b(?:day|hour|fecha|hora|heure|tag|jour|dia)\b/g;
/** Words such as "at" and "on", which differ between names of dates and times. */
const SHORT = /^(?:[a-z]{0,2}|uhr)$/;
/** What a name is about: "closed" for "Closed date" and "Closed on". */
function subjectOf(name: string): string[] {
  const words = plainWords(withoutZone(name)).replaceAll(DATE_OR_TIME, "").split(" ");
  return words.filter((word) => !SHORT.test(word));
}

/** A time of day that isn't midnight. */
const NOT_MIDNIGHT = /[1-9]\d?:|:\d?[1-9]/;

/** The examples of a column. Midnight alone counts as no date. */
function examplesOf({ shapes, noDates }: SurveyedColumn): readonly string[] {
  return [...shapes.flatMap(({ examples }) => examples), ...noDates.keys()];
}

/** What the joined values of two columns are like; undefined unless every row has both or none, and one format reads all. */
function joinedSurvey(date: SurveyedColumn, clock: SurveyedColumn, now: number): SurveyedColumn | undefined {
  const [first = "", ...times] = examplesOf(clock);
  const dates = date.shapes.map((shape) => ({ ...shape, examples: shape.examples.map((day) => `${day} ${first}`) }));
  const day = date.shapes[0]?.examples[0] ?? "";
  // The first time of day shows how dates are read, the first date how times of day are.
  const shapes = [...dates, { examples: times.map((time) => `${day} ${time}`), rows: 0 }];
  const [format] = timeReadingsOf(shapes, now)?.formats ?? [];
  const columns = [date, clock];
  if (format === undefined || columns.some((survey) => emptyRowsOf({ survey }, { columns }) > 0)) return undefined;
  if (!shapes.every(({ examples }) => examples.every(createReader(format, "UTC")))) return undefined;
  const [noDays, noTimes] = columns.map((each) => ["", ...each.emptyWords.keys(), ...each.noDates.keys()]);
  const nothing = noDays!.flatMap((each) => noTimes!.map((time) => `${each} ${time}`.trim())).filter(Boolean);
  const examples = [`${day} ${first}`];
  return { ...date, examples, shapes, noDates: new Map(firstSpellings(nothing).map((text) => [text, 0])) };
}

/**
 * The columns with times of day, each with that of their dates: of the same name, such as "Closed on" and "Closed time", or
 * of a part of it, such as "Date" and "End time".
 */
export function timePairs(named: readonly NamedColumn[], survey: Survey, now: number): readonly TimePair[] {
  const columns = named.map((each) => ({ ...each, words: subjectOf(each.name), survey: survey.columns[each.index]! }));
  return columns.flatMap((clock): TimePair[] => {
    const times = examplesOf(clock.survey);
    if (times.length === 0 || !times.every(isClock)) return [];
    const isNamed = ({ words }: (typeof columns)[number]): boolean => words.length === clock.words.length;
    const [date] = columns
      .filter(({ words }) => words.every((word) => clock.words.includes(word)))
      .filter((each) => isNamed(each) || times.some((time) => time.includes(":")))
      .filter((each) => timeReadingsOf(each.survey.shapes, now) && !NOT_MIDNIGHT.test(examplesOf(each.survey).join()))
      .toSorted((a, b) => b.words.length - a.words.length);
    if (date === undefined) return [];
    const source = { columns: [date.name, clock.name] };
    const subject = isNamed(date) ? date.words.join(" ") : undefined;
    return [
      { source, indexes: [date.index, clock.index], subject, survey: joinedSurvey(date.survey, clock.survey, now) },
    ];
  });
}
