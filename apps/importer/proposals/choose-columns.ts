import { nameOfColumn } from "@work-items/lib/uploads/csv/csv-columns.ts";
import { comparable } from "@work-items/lib/uploads/csv/header-names.ts";
import { targetOfPerson } from "./agent-columns.ts";
import { certaintyOf, checkValues, emptyRowsOf } from "./certainty.ts";
import { Choices } from "./column-choices.ts";
import { arePhones, isIdentifier, mayIdentify } from "./id-columns.ts";
import { CHOICE_FIELDS, meaningsIn } from "./known-choices.ts";
import { mayBeAgent, mayBeStatus, targetOfName } from "./known-headers.ts";
import type { TimeAnswers } from "./propose-time.ts";
import type { FileColumn, Survey } from "./survey.ts";

/** Whether all cells are known words for at least two choices of a field. */
function holdsChoices(target: string, { values }: FileColumn): boolean {
  const meaningOf = meaningsIn(target, []);
  return values.every((value) => meaningOf(value) !== undefined) && new Set(values.map(meaningOf)).size > 1;
}

/** What a person knows about a file. */
export interface Answers extends TimeAnswers {
  /** The columns that they chose, by field: their indexes. For all of the agent's fields, one column is enough. */
  readonly chosen?: ReadonlyMap<string, number> | undefined;
}

/** A column that is named after a target. */
interface NamedColumn {
  readonly column: FileColumn;
  readonly target: string;
  readonly isNamed: boolean;
  /** A lower one is more specific. */
  readonly rank: number;
  /** Why it is recognized, if not by its name. */
  readonly reason?: string;
}

/**
 * Takes the column of the IDs. If it can, one that has values in all rows of the file, which don't repeat and aren't telephone
 * numbers; never one that repeats in most rows. Without any, those that may be IDs are rivals.
 */
function takeId(
  choices: Choices,
  columns: readonly FileColumn[],
  named: readonly NamedColumn[],
  survey: Survey,
  now: number,
): void {
  const { ids, rows } = survey;
  const repeatedRows = ({ index }: FileColumn): number => ids.get(index)?.repeatedRows ?? Infinity;
  const differs = (column: FileColumn): boolean =>
    repeatedRows(column) === 0 && emptyRowsOf(column, survey) === 0 && !arePhones(column.values);
  const isOther = (column: FileColumn): boolean => !named.some((each) => each.column === column);
  const others = columns.filter((column) => isOther(column) && differs(column) && mayIdentify(column, now));
  const byValues = others.map((column): NamedColumn => ({
    column,
    target: "external_id",
    isNamed: false,
    rank: Infinity,
    reason: "by values: no two are the same",
  }));
  const order = [
    ...named.filter(({ column }) => differs(column)),
    ...byValues.filter(({ column }) => isIdentifier(column, now)),
    ...named.filter(({ column }) => !differs(column)),
  ];
  const isGroup = ({ column }: NamedColumn): boolean =>
    repeatedRows(column) !== Infinity && repeatedRows(column) * 2 >= rows && rows > 0;
  for (const { column, isNamed, reason } of order.filter((each) => !isGroup(each))) {
    choices.take("external_id", column, isNamed, reason);
  }
  const taken = order.find(({ column }) => choices.columns.get(column.index)?.target === "external_id");
  const isSure = taken !== undefined && taken.isNamed && differs(taken.column);
  // In the export of another system, it may be the ID that a third one has.
  const isExternal = taken?.column.words === "external id";
  const hasNoDoubts = choices.columns.get(taken?.column.index ?? -1)?.doubts.length === 0;
  for (const { column, rank, isNamed } of hasNoDoubts ? order : [...named, ...byValues]) {
    const isEqual = isSure && (isExternal || (isNamed && rank === taken.rank)) && differs(column);
    if (!isSure || isEqual) choices.addRival(column, "external_id");
  }
  if (taken !== undefined) return;
  for (const { column, isNamed } of named.filter(isGroup)) {
    const found = checkValues("external_id", column, isNamed, survey);
    if (found && choices.rivals.get(column.index) === "external_id") {
      choices.reject(column, "external_id", certaintyOf(found).reason);
    }
  }
}

/** Targets for which columns of equally specific names are rivals. The rivals for other targets are found in other ways. */
const OF_ONE_COLUMN: ReadonlySet<string> = new Set(["status", "type", "custom_attributes.short_description"]);

/** Finds the columns of each target, and the columns that may be meant instead. */
export function chooseColumns(columns: readonly FileColumn[], survey: Survey, answers: Answers): Choices {
  const choices = new Choices(columns, survey, answers);
  for (const [field, index] of answers.chosen ?? []) {
    const column = columns.find((each) => each.index === index);
    if (column !== undefined) choices.takeChosen(field, column);
  }
  for (const column of columns) {
    const own = nameOfColumn(column.name);
    if (own !== undefined && own !== "external_id") choices.take(own, column, true);
  }
  const known = columns
    .flatMap((column): NamedColumn[] => {
      const named = targetOfName(column.words);
      return named ? [{ column, target: named.target, isNamed: named.isCertain, rank: named.rank }] : [];
    })
    .toSorted((a, b) => a.rank - b.rank);
  for (const { target, column, isNamed } of known) {
    if (target !== "completed_at" && target !== "external_id") choices.take(target, column, isNamed);
  }
  const times = known.filter(({ target }) => target === "completed_at");
  choices.takeTimes(times.filter(({ isNamed }) => isNamed));
  choices.takeTimes(times);
  // In a log of calls, "Date" and "Time" are perhaps all there is.
  const plain = choices.pairs.filter(({ subject }) => subject === "").map(({ indexes }) => indexes[1]);
  choices.takeTimes(columns.filter(({ index }) => plain.includes(index)).map((column) => ({ column, isNamed: false })));
  if (!choices.hasAgent()) choices.takeAgents(columns);
  for (const target of CHOICE_FIELDS) {
    for (const column of columns) if (holdsChoices(target, column)) choices.take(target, column, true, "by values");
  }
  if (!choices.sources.has("external_id")) {
    const named = known.filter(({ target }) => target === "external_id");
    takeId(choices, columns, named, survey, answers.now);
  }
  addRivals(choices, columns, known);
  for (const { target, column, isNamed } of known) {
    // "Resolution time" may also be a duration.
    const isDuration = target === "completed_at" && column.values.every((value) => /^\d+(?:[:.,]\d+)*$/.test(value));
    if (isNamed && !isDuration && !choices.sources.has(target)) choices.rejectValues(column, target);
  }
  return choices;
}

/** The columns that may be about the agent by their names. If one is known, only those that hold some of the same people. */
function addAgentRivals(choices: Choices, columns: readonly FileColumn[]): void {
  const isAgent = ({ index }: FileColumn): boolean => choices.columns.get(index)?.target?.startsWith("agent_") === true;
  const people = new Set(columns.filter(isAgent).flatMap(({ values }) => values.map(comparable)));
  for (const column of columns.filter(({ words }) => mayBeAgent(words))) {
    const target = targetOfPerson(column);
    const isShared = !choices.hasAgent() || column.values.some((value) => people.has(comparable(value)));
    if (target !== undefined && target !== "agent_external_id" && isShared) choices.addRival(column, target);
  }
}

/** Finds the columns that may be meant instead of the chosen ones, or although none is chosen, by their names and values. */
function addRivals(choices: Choices, columns: readonly FileColumn[], known: readonly NamedColumn[]): void {
  for (const target of OF_ONE_COLUMN) {
    const own = known.filter((each) => each.target === target);
    const taken = own.find(({ column }) => choices.columns.get(column.index)?.target === target);
    if (taken === undefined) continue;
    for (const { column, rank } of own) if (rank === taken.rank) choices.addRival(column, target);
  }
  const meaningOf = meaningsIn("status", []);
  const statuses = columns.filter(({ words, values }) => mayBeStatus(words) && values.some(meaningOf));
  // A person is asked what its values mean, and can then choose another column.
  if (statuses.length === 1) choices.take("status", statuses[0]!, true, "by a part of its name");
  for (const column of statuses) choices.addRival(column, "status");
  addAgentRivals(choices, columns);
}
