import { nameOfColumn } from "../../../lib/uploads/csv/csv-columns.ts";
import type { Source } from "../../../lib/uploads/mapping/mapping.ts";
import { comparable } from "../../../lib/uploads/csv/header-names.ts";
import { agentFields, isMost, targetOfPerson } from "./agent-columns.ts";
import {
  type Certainty,
  certaintyOf,
  checkValues,
  cleanTexts,
  type FileColumn,
  type FileFacts,
  type Found,
  withoutEmptyWords,
} from "./certainty.ts";
import { arePhones, isIdentifier, mayIdentify } from "./id-columns.ts";
import { CHOICE_FIELDS, meaningsIn } from "./known-choices.ts";
import { mayBeAgent, mayBeStatus, targetOfName } from "./known-headers.ts";
import { isNoDate } from "./no-dates.ts";
import {
  DOUBTS,
  proposeTime,
  type TimeAnswers,
  type TimeQuestion,
  timesOfDay,
  withoutNoDates,
} from "./propose-time.ts";
import { countOfTime, looksLikeDate, timeReadingsOf } from "./time-formats.ts";

const TIME_DOUBTS: ReadonlySet<string> = new Set(Object.values(DOUBTS));

/** What a column of a file is proposed to become. */
export interface ChosenColumn {
  /** The field, or `custom_attributes.<name>`; undefined if unknown: then `others` decides. */
  readonly target: string | undefined;
  readonly certainty: Certainty;
  /** Why, such as "by name"; empty if unknown. */
  readonly reason: string;
  /** Whether the answers to its questions about date-times make it certain. */
  readonly isOnlyAsked?: boolean;
  /** The field that it may be although another column, or none, is proposed for it: a person chooses. */
  readonly mayBe?: string | undefined;
}

const CHOSEN = "chosen";
/** Whether a text is surely a placeholder for a missing date. */
function isNoTime(text: string): boolean {
  return text.trim().length > 1 && isNoDate(text.trim());
}

/** A source with further aliases. */
function withAliases(source: Source, { values }: Pick<Source, "values">): Source {
  return values === undefined ? source : { ...source, values: { ...source.values, ...values } };
}

/** Whether all cells are known words for at least two choices of a field. */
function holdsChoices(target: string, { values }: FileColumn): boolean {
  const meaningOf = meaningsIn(target, []);
  return values.every((value) => meaningOf(value) !== undefined) && new Set(values.map(meaningOf)).size > 1;
}

/** Whether fields are the same, or both of the agent. */
function areOfOne(field: string | undefined, other: string | undefined): boolean {
  if (field === undefined) return false;
  return field === other || (field.startsWith("agent_") && other?.startsWith("agent_") === true);
}

/** Assigns columns to targets, each at most once. */
class Choices {
  readonly sources = new Map<string, Source>();
  readonly columns = new Map<
    number,
    Pick<Found, "isSure" | "reason" | "doubts"> & { readonly target: string | undefined }
  >();
  readonly questions: TimeQuestion[] = [];
  /** The fields that columns may be, by their indexes. */
  readonly rivals = new Map<number, string>();
  /** Names of several columns. */
  readonly #repeated: ReadonlySet<string>;
  readonly #all: readonly FileColumn[];
  readonly #facts: FileFacts;
  readonly #answers: TimeAnswers;

  constructor(columns: readonly FileColumn[], facts: FileFacts, answers: TimeAnswers) {
    const groups = [...Map.groupBy(columns, ({ words }) => words)];
    this.#repeated = new Set(groups.filter(([, { length }]) => length > 1).map(([words]) => words));
    this.#all = columns;
    this.#facts = facts;
    this.#answers = answers;
  }

  /**
   * Takes a column for a target, unless either is taken or the cells don't fit.
   * @param isNamed whether the name leaves no doubt
   * @param reason why, if not by its name
   */
  take(target: string, column: FileColumn, isNamed: boolean, reason?: string): void {
    if (target === "completed_at") {
      this.takeTimes([{ column, isNamed }]);
      return;
    }
    if (this.sources.has(target) || this.columns.has(column.index)) return;
    const found = checkValues(target, column, isNamed, this.#facts);
    if (found === undefined) return;
    this.sources.set(target, found.source);
    const isRepeated = reason === undefined && this.#repeated.has(column.words);
    this.columns.set(column.index, {
      target,
      isSure: found.isSure && reason === undefined,
      reason: reason ?? found.reason,
      doubts: [...found.doubts, ...(isRepeated ? ["another column has the same name"] : [])],
    });
  }

  /** Takes the fields of the agent. Columns about other people who do the work are rivals. */
  takeAgents(columns: readonly FileColumn[], chosen?: FileColumn): void {
    const { fields, rivals } = agentFields(columns, chosen);
    for (const { target, columns: own, source, isCertain, reason } of fields) {
      const isTaken = own.some(
        ({ index }) => this.columns.has(index) && this.columns.get(index)?.target !== "agent_name",
      );
      const checked = checkValues(target, own[0]!, true, this.#facts);
      const isSplit = source.values !== undefined;
      if (this.sources.has(target) || isTaken || (checked === undefined && !isSplit)) continue;
      const { values: emptyWords, ...trim } = source.columns ? {} : cleanTexts(target, own[0]!);
      const values = { ...emptyWords, ...source.values };
      this.sources.set(target, { ...source, ...trim, ...(Object.keys(values).length > 0 && { values }) });
      const doubts = isSplit ? [] : (checked?.doubts ?? []);
      for (const { index } of own) {
        if (!this.columns.has(index)) this.columns.set(index, { target, isSure: isCertain, reason, doubts });
      }
    }
    if (!this.hasAgent()) return;
    for (const { column, target } of rivals) this.addRival(column, target);
  }

  /** Takes a column that a person chose for a field, or for the agent. Nothing speaks against it. */
  takeChosen(field: string, column: FileColumn): void {
    if (field.startsWith("agent_")) this.takeAgents(this.#all, column);
    else this.take(field, column, true);
    for (const [index, found] of this.columns) {
      if (areOfOne(field, found.target))
        this.columns.set(index, { ...found, isSure: true, reason: CHOSEN, doubts: [] });
    }
  }

  /** Notes that a column may be a target's, unless it is taken. */
  addRival({ index, survey }: FileColumn, target: string): void {
    if (survey.filledRows > 0 && !this.columns.has(index) && !this.rivals.has(index)) this.rivals.set(index, target);
  }

  /** Notes why a column isn't proposed for a target although it may be meant. */
  reject(column: FileColumn, target: string, reason: string): void {
    this.addRival(column, target);
    this.columns.set(column.index, { target: undefined, isSure: false, reason, doubts: [] });
  }

  /** Takes all columns of completion dates. For each row, the first that isn't empty counts. */
  takeTimes(candidates: readonly { readonly column: FileColumn; readonly isNamed: boolean }[]): void {
    const free = candidates.filter(({ column }) => !this.columns.has(column.index));
    if (this.sources.has("completed_at") || free.length === 0) return;
    const found = free.flatMap(({ column, isNamed }) => {
      const time = proposeTime(column.name, column.survey, this.#answers);
      return time ? [{ column, isNamed, time }] : [];
    });
    for (const { column } of free) this.#doubtTexts(column);
    const sources = found.map(({ column, time }) =>
      withAliases(time.source, withoutEmptyWords("completed_at", column)),
    );
    const [first, ...others] = sources;
    if (first === undefined) {
      this.#takeEmptyTime(free.find(({ column }) => column.values.every(isNoTime))?.column);
      return;
    }
    this.sources.set("completed_at", others.length === 0 ? first : { first_of: sources });
    for (const [index, { column, isNamed, time }] of found.entries()) {
      const before = found.slice(0, index).map((each) => `"${each.column.name}"`);
      const areEmpty = before.length === 1 ? "is empty" : "are empty";
      const order = before.length === 0 ? "" : `, where ${before.join(" and ")} ${areEmpty}`;
      const clock = timesOfDay(column, this.#all);
      this.columns.set(column.index, {
        target: "completed_at",
        isSure: isNamed,
        reason: `by name and values${order}`,
        doubts: [
          ...(clock === undefined ? [] : [`the time of day is in "${clock.name}"`]),
          ...time.doubts,
          ...time.questions.map(({ kind }) => DOUBTS[kind]),
        ],
      });
      this.questions.push(...time.questions);
    }
  }

  /** Notes the doubt about a column that is named after completion dates, but whose dates can't be read. */
  #doubtTexts(column: FileColumn): void {
    const { survey, values } = column;
    const dates = timeReadingsOf(survey.shapes, this.#answers.now) ? [] : values.filter(looksLikeDate);
    if (!isMost(dates.length, values)) return;
    const count = countOfTime(dates[0]!);
    const advice = count === undefined ? "" : `; it looks like ${count}. Export the column as dates`;
    const reason = `by its name it has completion dates, but values such as "${dates[0]}" can't be read as dates${advice}`;
    this.reject(column, "completed_at", reason);
  }

  #takeEmptyTime(column: FileColumn | undefined): void {
    if (column === undefined) return;
    const source = { column: column.name, time_zone: this.#answers.timeZone, ...withoutNoDates(column.survey) };
    this.sources.set("completed_at", withAliases(source, withoutEmptyWords("completed_at", column)));
    const reason = "by name; it has no values yet";
    this.columns.set(column.index, { target: "completed_at", isSure: false, reason, doubts: [] });
  }

  hasAgent(): boolean {
    return [...this.sources.keys()].some((target) => target.startsWith("agent_"));
  }

  /** What a column is proposed to become, with the rivals of its target as doubts. */
  chosen(index: number): ChosenColumn {
    const mayBe = this.rivals.get(index);
    const found = this.columns.get(index);
    if (found === undefined) return { target: undefined, certainty: "unknown", reason: "", mayBe };
    const { target } = found;
    const names = this.#all
      .filter((column) => areOfOne(this.rivals.get(column.index), target))
      .map(({ name }) => `"${name}"`);
    const doubts = names.length === 0 || found.reason === CHOSEN ? [] : [`${names.join(" and ")} may be meant`];
    const all = [...found.doubts, ...doubts];
    const isOnlyAsked = found.isSure && all.length > 0 && all.every((doubt) => TIME_DOUBTS.has(doubt));
    return { target, ...certaintyOf({ ...found, doubts: all }), ...(isOnlyAsked && { isOnlyAsked }), mayBe };
  }
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
 * Takes the column of the IDs. If it can, one whose values don't repeat in the whole file and aren't telephone numbers; never
 * one that repeats in most rows. Without any, those that may be IDs are rivals.
 */
function takeId(
  choices: Choices,
  columns: readonly FileColumn[],
  named: readonly NamedColumn[],
  facts: FileFacts,
  now: number,
): void {
  const { ids, rows } = facts.survey;
  const repeatedRows = ({ index }: FileColumn): number => ids.get(index)?.repeatedRows ?? Infinity;
  const differs = (column: FileColumn): boolean => repeatedRows(column) === 0 && !arePhones(column.values);
  const isOther = (column: FileColumn): boolean => !named.some((each) => each.column === column);
  const others = columns.filter(
    (column) => isOther(column) && differs(column) && column.values.length === facts.rows && mayIdentify(column, now),
  );
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
  for (const { column, rank, isNamed } of taken === undefined ? [...named, ...byValues] : order) {
    if (!isSure || (isNamed && rank === taken.rank && differs(column))) choices.addRival(column, "external_id");
  }
  if (taken !== undefined) return;
  for (const { column, isNamed } of named.filter(isGroup)) {
    const found = checkValues("external_id", column, isNamed, facts);
    if (found && choices.rivals.get(column.index) === "external_id") {
      choices.reject(column, "external_id", certaintyOf(found).reason);
    }
  }
}

/** Targets for which columns of equally specific names are rivals. The rivals for other targets are found in other ways. */
const OF_ONE_COLUMN: ReadonlySet<string> = new Set(["status", "type", "custom_attributes.short_description"]);

/** Finds the columns of each target, and the columns that may be meant instead. */
export function chooseColumns(columns: readonly FileColumn[], facts: FileFacts, answers: Answers): Choices {
  const choices = new Choices(columns, facts, answers);
  for (const [field, index] of answers.chosen ?? []) {
    const column = columns.find((each) => each.index === index);
    if (column !== undefined) choices.takeChosen(field, column);
  }
  for (const column of columns) {
    const own = nameOfColumn(column.name);
    if (own !== undefined) choices.take(own, column, true);
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
  if (!choices.hasAgent()) choices.takeAgents(columns);
  for (const target of CHOICE_FIELDS) {
    for (const column of columns) if (holdsChoices(target, column)) choices.take(target, column, true, "by values");
  }
  if (!choices.sources.has("external_id")) {
    const named = known.filter(({ target }) => target === "external_id");
    takeId(choices, columns, named, facts, answers.now);
  }
  addRivals(choices, columns, known);
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
  for (const column of columns) {
    const isStatus = mayBeStatus(column.words) && column.values.some((value) => meaningOf(value) !== undefined);
    if (isStatus) choices.addRival(column, "status");
  }
  addAgentRivals(choices, columns);
}
