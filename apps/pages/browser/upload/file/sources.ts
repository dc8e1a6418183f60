import { columnIndex, comparable, numberedNames } from "@work-items/lib/uploads/csv/header-names.ts";
import { fieldOf, isTime, type Target } from "@work-items/lib/uploads/csv/target.ts";
import { cleanTexts } from "@work-items/importer/proposals/certainty.ts";
import { isEmptyWord } from "@work-items/importer/proposals/empty-words.ts";
import { aliasesOf } from "@work-items/importer/proposals/known-choices.ts";
import { firstSpellings } from "@work-items/importer/proposals/known-headers.ts";
import { columnsOf } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import type { Mapping, Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { proposeTime, withoutNoDates } from "@work-items/importer/proposals/propose-time.ts";
import { type SurveyedColumn, surveyOf } from "@work-items/importer/proposals/survey.ts";
import { countRows, createReader, isClock, timeReadingsOf } from "@work-items/importer/proposals/time-formats.ts";
import { type TimePair, timePairs } from "@work-items/importer/proposals/time-pairs.ts";
import type { SurveyedTable } from "./table-file.ts";

/** The browser's time zone, which is proposed for times without offset. */
export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

const NO_COLUMN = surveyOf([""], [], 2).columns[0]!;

type Surveyed = Pick<SurveyedTable, "names" | "survey">;

/** What the survey says of a column. */
export function surveyed({ survey }: Pick<SurveyedTable, "survey">, index: number): SurveyedColumn {
  return survey.columns[index] ?? NO_COLUMN;
}

/** Between the columns of a date and its time of day, which a person chooses as one. No header has it. */
const BETWEEN = "\0";

/** What a person chooses as a source: the name of its column, or those of several as one text. */
export function keyOf({ column, columns = [] }: Source): string {
  return column ?? columns.join(BETWEEN);
}

/** The columns of a choice. */
export function namesIn(key: string): string[] {
  return key.split(BETWEEN);
}

/** Whether two sources have the same columns. */
export function isSameSource(a: Source, b: Source): boolean {
  return comparable(keyOf(a)) === comparable(keyOf(b));
}

/** Cache: it is asked at each change. */
const pairsOf = new WeakMap<Surveyed["survey"], readonly TimePair[]>();

/** The columns of dates with columns of their times of day. */
export function pairsIn({ names, survey }: Surveyed): readonly TimePair[] {
  const columns = numberedNames(names).map((name, index) => ({ index, name }));
  const pairs = pairsOf.get(survey) ?? timePairs(columns, survey, Date.now());
  pairsOf.set(survey, pairs);
  return pairs;
}

/** What the survey says of the date-times of a source; undefined if they are made in another way. */
export function surveyedTimes(table: Surveyed, source: Source): SurveyedColumn | undefined {
  const { column } = source;
  if (column === undefined) return pairsIn(table).find((pair) => isSameSource(pair.source, source))?.survey;
  const index = columnIndex(table.names, column);
  return index === -1 ? undefined : surveyed(table, index);
}

/** What is proposed for a source of date-times; undefined if they can't be read. */
export function proposedTime(table: Surveyed, source: Source, timeZone = TIME_ZONE) {
  const survey = surveyedTimes(table, source);
  return survey && proposeTime(source, survey, { timeZone, now: Date.now() });
}

/** A value that shows how date-times are read; undefined if there is none. */
export function exampleOfTimes(table: Surveyed, source: Source): string | undefined {
  const { shapes } = surveyedTimes(table, source) ?? NO_COLUMN;
  return timeReadingsOf(shapes, Date.now())?.example ?? shapes[0]?.examples[0];
}

/** Why most values of a source can't be read as date-times; undefined if they can, or if there are none. */
export function problemOfTimes(table: Surveyed, source: Source): string | undefined {
  const { format = "iso", values = {} } = source;
  const { shapes, examples } = surveyedTimes(table, source) ?? NO_COLUMN;
  const read = createReader(format, "UTC");
  const isRead = (text: string): boolean =>
    Object.hasOwn(values, text) || isEmptyWord(text) || read(text) !== undefined;
  // Free text has no shapes.
  const all = shapes.length > 0 || examples.length === 0 ? shapes : [{ examples, rows: 1 }];
  const unread = all.filter((shape) => !shape.examples.some(isRead));
  if (countRows(unread) * 2 <= countRows(all)) return undefined;
  const [text = ""] = unread[0]!.examples;
  return `"${text}" ${isClock(text) ? "is a time of day without its date" : "isn't a date and time"}`;
}

/** A column's distinct values in their order, without empty ones. Spellings that differ only by case count as one. */
export function valuesAt(
  table: Pick<SurveyedTable, "survey" | "rows">,
  index: number,
  empty: readonly string[],
): string[] {
  const nothing = new Set(["", ...empty.map(comparable)]);
  const cells = surveyed(table, index).words?.keys() ?? table.rows.map((row) => (row[index] ?? "").trim());
  return firstSpellings(cells).filter((word) => !nothing.has(comparable(word)));
}

/** The number of rows with a value, in all its spellings; undefined if it isn't known. */
export function rowsWith(table: Pick<SurveyedTable, "survey">, index: number, value: string): number | undefined {
  const { words } = surveyed(table, index);
  const counts = [...(words ?? [])].filter(([word]) => comparable(word) === comparable(value));
  return words && counts.reduce((sum, [, rows]) => sum + rows, 0);
}

/** How a choice of columns is read to become a target. @param timeZone the zone of times without offset */
export function sourceFor(target: Target | undefined, key: string, table: SurveyedTable, timeZone = TIME_ZONE): Source {
  const [column = ""] = namesIn(key);
  const pair = pairsIn(table).find((each) => keyOf(each.source) === key);
  if (pair?.survey) return proposedTime(table, pair.source, timeZone)!.source;
  const index = columnIndex(table.names, column);
  if (target === undefined) return { column };
  if (fieldOf(target)?.kind.choices) return { column, ...aliasesOf(target.name, valuesAt(table, index, [])) };
  const survey = surveyed(table, index);
  const noValues = target.kind === "field" ? cleanTexts(target.name, { survey }) : {};
  if (!isTime(target)) return { column, ...noValues };
  const proposed = proposedTime(table, { column }, timeZone)?.source;
  return proposed ?? { column, time_zone: timeZone, ...withoutNoDates(survey) };
}

/** The aliases of a source, with another one for texts in all their spellings; undefined removes it. */
export function withAlias(
  { values = {} }: Source,
  texts: readonly string[],
  alias: string | undefined,
): Record<string, string> {
  const keys = new Set(texts.map(comparable));
  const others = Object.entries(values).filter(([each]) => !keys.has(comparable(each)));
  return Object.fromEntries(
    alias === undefined ? others : [...others, ...texts.map((text): [string, string] => [text, alias])],
  );
}

/** The alias of a text; undefined if it has none. */
export function aliasOf({ values = {} }: Source, text: string): string | undefined {
  return Object.entries(values).find(([each]) => comparable(each) === comparable(text))?.[1];
}

/** An object with another value for a key; undefined removes the key. */
export function withKey<T extends object, K extends keyof T>(object: T, key: K, value: T[K] | undefined): T {
  const { [key]: _, ...others } = object;
  return (value === undefined ? others : { ...others, [key]: value }) as T;
}

/** A source with each source in it changed: those of `first_of`, or the source itself. */
export function changeSingles(source: Source, change: (single: Source) => Source): Source {
  if (source.first_of === undefined) return change(source);
  return { ...source, first_of: source.first_of.map((inner) => changeSingles(inner, change)) };
}

/** Whether a source alone makes what a report of failed rows calls a column. */
export function isMadeOf(source: Source, column: string): boolean {
  return comparable(columnsOf(source).join(", ")) === comparable(column);
}

/** The mapping with another value for a text of a column; undefined if no source uses that column alone. */
export function withReplacement(mapping: Mapping, column: string, text: string, instead: string): Mapping | undefined {
  let isFound = false;
  const replaced = (single: Source): Source => {
    if (!isMadeOf(single, column)) return single;
    isFound = true;
    return { ...single, values: withAlias(single, [text], instead) };
  };
  const replacedIn = (sources: Readonly<Record<string, Source>>) =>
    Object.fromEntries(Object.entries(sources).map(([target, source]) => [target, changeSingles(source, replaced)]));
  const { fields, event } = mapping;
  const next = {
    ...mapping,
    ...(fields && { fields: replacedIn(fields) }),
    ...(event && { event: replacedIn(event) }),
  };
  return isFound ? next : undefined;
}
