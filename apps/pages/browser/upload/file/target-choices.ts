import { targetOfPerson } from "@work-items/importer/proposals/agent-columns.ts";
import { CHOICES_MAX } from "@work-items/importer/proposals/certainty.ts";
import { choicesOf } from "@work-items/importer/proposals/known-choices.ts";
import type { SurveyedColumn } from "@work-items/importer/proposals/survey.ts";
import {
  type Decision,
  fieldsOfTarget,
  isOfEvent,
  type NamedIndex,
  sourcesOf,
  type TargetName,
} from "@work-items/importer/proposals/target-states.ts";
import { isClock, timeReadingsOf } from "@work-items/importer/proposals/time-formats.ts";
import { columnIndex, comparable } from "@work-items/lib/uploads/csv/header-names.ts";
import { ATTRIBUTE_PREFIX, eventTarget, isTime, itemTarget } from "@work-items/lib/uploads/csv/target.ts";
import { columnsOf } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import type { Mapping, Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { type Answered, withoutAnswers } from "./answers.ts";
import { canBeKept, columnsBesideIds, ELSE_COMPLETED, KEPT, LEFT_OUT, rolesOf, withRole } from "./column-roles.ts";
import { zoneOf } from "./compare-mappings.ts";
import { keyOf, namesIn, sourceFor, valuesAt } from "./sources.ts";
import type { SurveyedTable } from "./table-file.ts";

/** The mapping in which nothing sets some fields of a target. Their columns are kept as attributes where they can be. */
function withoutFields(
  header: readonly string[],
  mapping: Mapping,
  target: TargetName,
  fields: readonly string[],
): Mapping {
  const sources = Object.entries((isOfEvent(target) ? mapping.event : mapping.fields) ?? {});
  const left = Object.fromEntries(sources.filter(([field]) => !fields.includes(field)));
  if (isOfEvent(target)) return { ...mapping, event: left };
  const without: Mapping = { ...mapping, fields: left };
  const [used, needed] = [columnsBesideIds(mapping), columnsBesideIds(without)];
  // Kept, such a column would be the field again.
  const isOwn = ({ name }: { readonly name: string }): boolean => fields.includes(ATTRIBUTE_PREFIX + name);
  const isFree = (key: string): boolean => used.has(key) && !needed.has(key);
  return rolesOf(header, without)
    .filter((column) => isOwn(column) || isFree(comparable(column.name)))
    .reduce<Mapping>(
      (next, column) => withRole(header, next, column, canBeKept(column) && !isOwn(column) ? KEPT : LEFT_OUT),
      without,
    );
}

/** The answers after a decision about a target. */
export function withDecision(
  { decisions, remembered, ...answered }: Answered,
  target: TargetName,
  decision: Decision,
): Answered {
  return {
    ...answered,
    decisions: { ...decisions, [target]: decision },
    remembered: remembered.difference(new Set([target])),
  };
}

/** Leaves a target empty. */
export function withNothing(table: SurveyedTable, answered: Answered, target: TargetName): Answered {
  const mapping = withoutFields(table.names, answered.mapping, target, fieldsOfTarget(target));
  return withDecision({ ...answered, mapping }, target, "left");
}

/** Gives a field of a target the same value in every row. */
export function withValue(
  table: SurveyedTable,
  answered: Answered,
  target: TargetName,
  field: string,
  value: string,
): Answered {
  const { fields, ...mapping } = withoutFields(table.names, answered.mapping, target, [field]);
  return withDecision(
    { ...answered, mapping: { ...mapping, fields: { ...fields, [field]: { value } } } },
    target,
    "as mapped",
  );
}

/**
 * Makes a field of a target of columns: for each row, of the first that isn't empty.
 * @param columns their names, or keys of several; without any, the field has no source
 * @param timeZone the zone of times without offset
 */
export function withColumns(
  table: SurveyedTable,
  answered: Answered,
  target: TargetName,
  field: string,
  columns: readonly string[],
  timeZone = zoneOf(answered.mapping),
): Answered {
  const { names } = table;
  const before = sourcesOf(target, { names, mapping: answered.mapping }).flatMap(
    ([, source]) => source.first_of ?? [source],
  );
  const own = new Set(before.flatMap(columnsOf).map(comparable));
  const made = isOfEvent(target) ? eventTarget(field) : itemTarget(field);
  const sourceOf = (column: string): Source =>
    before.find((each) => comparable(keyOf(each)) === comparable(column)) ?? sourceFor(made, column, table, timeZone);
  const without = withoutFields(names, answered.mapping, target, [field]);
  const mapping = isOfEvent(target)
    ? { ...without, event: { ...without.event, ...Object.fromEntries(columns.map((each) => [field, sourceOf(each)])) } }
    : columns.reduce((next, key, index) => {
        const role = index === 0 ? field : ELSE_COMPLETED;
        const [name = ""] = namesIn(key);
        return withRole(names, next, { name, index: columnIndex(names, name) }, role, sourceOf(key));
      }, without);
  // What was answered about dates of another column doesn't count for this one.
  const fresh = columns.flatMap(namesIn).filter((column) => !own.has(comparable(column)));
  const checked = fresh.reduce(withoutAnswers, answered.checked);
  return withDecision({ ...answered, mapping, checked }, target, "as mapped");
}

/** More columns than these would be no help. */
const OFFERED_COLUMNS = 5;

/** The columns that may set a target by their values, for one that no column is named after: dates, choices, or people. */
export function columnsFor(target: TargetName, { survey, names }: SurveyedTable, mapping: Mapping): NamedIndex[] {
  const fields = fieldsOfTarget(target);
  const [field = ""] = fields;
  const made = isOfEvent(target) ? eventTarget(field) : itemTarget(field);
  const mayBe = ({ shapes, words, decimal }: SurveyedColumn): boolean => {
    const isDate = timeReadingsOf(shapes, Date.now()) !== undefined;
    if (made && isTime(made)) return isDate && decimal === undefined;
    if (isDate || words === undefined || words.size === 0 || decimal !== undefined) return false;
    const values = [...words.keys()];
    const areFew = words.size > 1 && words.size <= CHOICES_MAX && words.size < survey.rows;
    if (choicesOf(field)) return areFew && !values.every(isClock);
    const mayBePeople = fields.length > 1 && !values.some((value) => /^\P{L}*$|^[^@]*\d/u.test(value));
    return mayBePeople && targetOfPerson({ values }) !== undefined;
  };
  return rolesOf(names, mapping)
    .filter(({ role, name, index }) => role === KEPT && name !== "" && mayBe(survey.columns[index]!))
    .slice(0, OFFERED_COLUMNS)
    .map(({ index, name }) => ({ index, column: name }));
}

/** The field of a target that a column sets. A person's column is a name, an email address or an ID, by its values. */
function fieldFor(target: TargetName, column: string, table: SurveyedTable): string {
  const fields = fieldsOfTarget(target);
  const [field = ""] = fields;
  if (fields.length === 1) return field;
  const values = valuesAt(table, columnIndex(table.names, column), []);
  const made = targetOfPerson({ values }) ?? "agent_name";
  return isOfEvent(target) ? made.replace("agent", "actor") : made;
}

/** Makes a target of some columns alone, each of another field. */
export function withOnly(
  table: SurveyedTable,
  answered: Answered,
  target: TargetName,
  columns: readonly string[],
): Answered {
  const mapping = withoutFields(table.names, answered.mapping, target, fieldsOfTarget(target));
  return columns.reduce<Answered>(
    (next, column) => withColumns(table, next, target, fieldFor(target, column, table), [column]),
    { ...answered, mapping },
  );
}
