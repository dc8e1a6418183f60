import { comparable } from "@work-items/lib/uploads/csv/header-names.ts";
import { singlesOf } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import type { Mapping, Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { type TimeQuestion, withoutZone, zonedColumn } from "@work-items/importer/proposals/propose-time.ts";
import type { Decisions, TargetName } from "@work-items/importer/proposals/target-states.ts";
import { changeSingles, problemOfTimes, proposedTime } from "./sources.ts";
import type { SurveyedTable } from "./table-file.ts";

/** The questions about date-times that a person has answered. */
export type Checked = ReadonlySet<string>;

// Answers start with NUL, which no header contains. That about a zone is one for all columns that are read in it.
function inZone(zone: string): string {
  return `\0zone ${zone}`;
}
function dateOf(column: string): string {
  return `\0date ${comparable(column)}`;
}

const GROUPS = "\0groups";

/** The mapping with its sources of date-times changed. */
function withTimes(mapping: Mapping, change: (source: Source) => Source): Mapping {
  const changed = (source: Source): Source => changeSingles(source, change);
  const { completed_at: completedAt } = mapping.fields ?? {};
  const { occurred_at: occurredAt } = mapping.event ?? {};
  return {
    ...mapping,
    ...(completedAt && { fields: { ...mapping.fields, completed_at: changed(completedAt) } }),
    ...(occurredAt && { event: { ...mapping.event, occurred_at: changed(occurredAt) } }),
  };
}

/** The sources of date-times, each by itself. */
function timesIn({ fields, event }: Mapping): Source[] {
  const times = [fields?.["completed_at"], event?.["occurred_at"]];
  return times.flatMap((source) => (source ? singlesOf({ source, path: [] }) : [])).map(({ source }) => source);
}

/** The questions that the columns of date-times leave open. */
function questionsOf(table: SurveyedTable, mapping: Mapping): TimeQuestion[] {
  return timesIn(mapping).flatMap((source) => {
    const { time_zone: timeZone = "" } = source;
    const questions = proposedTime(table, source)?.questions ?? [];
    return questions.map((question) => (question.kind === "zone" ? { ...question, timeZone } : question));
  });
}

/** The columns of date-times whose values can't be read, and why. */
export function unreadTimes(table: SurveyedTable, mapping: Mapping) {
  return timesIn(mapping).flatMap((source) => {
    const problem = problemOfTimes(table, source);
    return problem === undefined ? [] : [{ column: zonedColumn(source)!, problem }];
  });
}

function answerOf(question: TimeQuestion): string {
  return question.kind === "zone" ? inZone(question.timeZone) : dateOf(question.column);
}

/** The questions that a person has yet to answer. */
export function openQuestions(table: SurveyedTable, mapping: Mapping, checked: Checked): TimeQuestion[] {
  return questionsOf(table, mapping).filter((question) => !checked.has(answerOf(question)));
}

/** Local times that are read in one time zone. */
export interface LocalTimes {
  /** The column whose header names a zone of its own; empty for all other columns, which have one zone together. */
  readonly own: string;
  readonly column: string;
  readonly source: Source;
  /** Whether a person has yet to say which zone it is. */
  readonly isAsked: boolean;
}

/** The local times of a file. */
export function localTimesOf(table: SurveyedTable, { mapping, checked }: Answered): LocalTimes[] {
  const asked = openQuestions(table, mapping, checked).filter(({ kind }) => kind === "zone");
  const times = timesIn(mapping).map((source): LocalTimes => {
    const column = zonedColumn(source) ?? "";
    const isAsked = asked.some((each) => comparable(each.column) === comparable(column));
    return { own: withoutZone(column) === column ? "" : column, column, source, isAsked };
  });
  const local = times.filter(({ source, isAsked }) => isAsked || source.time_zone !== undefined);
  return [...Map.groupBy(local, ({ own }) => own).values()].map(
    (same) => same.find((each) => each.isAsked) ?? same[0]!,
  );
}

/** The answers for a file whose mapping was used before: all of them. */
export function answersIn(table: SurveyedTable, mapping: Mapping): Checked {
  return new Set(questionsOf(table, mapping).map(answerOf));
}

/** The answers after a column became something else: those about its dates no longer count. */
export function withoutAnswers(checked: Checked, column: string): Checked {
  return checked.difference(new Set([dateOf(column)]));
}

/** What a person can change about a file. */
export interface Answered {
  readonly mapping: Mapping;
  readonly checked: Checked;
  /** What they decided about the targets of the import. */
  readonly decisions: Decisions;
  /** The targets about which they decided for an earlier file with the same columns. */
  readonly remembered: ReadonlySet<TargetName>;
}

/** Whether a person has yet to say if columns are filled down. @param table before they are */
export function areGroupsAsked({ survey }: SurveyedTable, { checked }: Answered): boolean {
  return survey.grouped.length > 0 && !checked.has(GROUPS);
}

/** The answers with that about columns to fill down. */
export function withGroups(answered: Answered): Answered {
  return { ...answered, checked: new Set([...answered.checked, GROUPS]) };
}

/** Applies the time zone chosen for a column to all local times, except in columns whose headers name their own. */
export function withZone(table: SurveyedTable, answered: Answered, own: string, zone: string): Answered {
  const { mapping, checked } = answered;
  const hasOwn = (name: string): boolean => withoutZone(name) !== name;
  const zoneQuestions = questionsOf(table, mapping).filter(({ kind }) => kind === "zone");
  const columns = zoneQuestions.map(({ column }) => column);
  const asked = new Set(columns.map(comparable));
  const next = withTimes(mapping, (source) => {
    const { time_zone: before, ...others } = source;
    const name = zonedColumn(source) ?? "";
    const isLocal = before !== undefined || asked.has(comparable(name));
    const isAffected = hasOwn(name) || hasOwn(own) ? comparable(name) === comparable(own) : isLocal;
    if (!isAffected) return source;
    return zone === "" ? others : { ...others, time_zone: zone };
  });
  return { ...answered, mapping: next, checked: new Set([...checked, inZone(zone)]) };
}

/** Applies the date format chosen for a column. In other ambiguous columns the same number comes first too. */
export function withFormat(table: SurveyedTable, answered: Answered, column: string, format: string): Answered {
  const { mapping, checked } = answered;
  const answers = [...checked, dateOf(column)];
  const open = openQuestions(table, mapping, checked);
  const next = withTimes(mapping, (source) => {
    const name = zonedColumn(source) ?? "";
    const question = open.find((each) => each.kind === "date" && comparable(each.column) === comparable(name));
    const isOwn = comparable(name) === comparable(column);
    const same = question?.kind === "date" ? question.formats.find((each) => each[0] === format[0]) : undefined;
    const chosen = isOwn ? format : same;
    if (chosen === undefined) return source;
    answers.push(dateOf(name));
    const { format: _, ...others } = source;
    return chosen === "iso" ? others : { ...others, format: chosen };
  });
  return { ...answered, mapping: next, checked: new Set(answers) };
}
