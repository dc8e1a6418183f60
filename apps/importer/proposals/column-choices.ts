import { columnsOf } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import type { Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { doubtsOfLetters } from "../letters/lost-letters.ts";
import { agentFields, isMost, withoutBrackets } from "./agent-columns.ts";
import { type Certainty, certaintyOf, checkValues, cleanTexts, type Found, withoutEmptyWords } from "./certainty.ts";
import { isNoDate } from "./no-dates.ts";
import { DOUBTS, proposeTime, type TimeAnswers, type TimeQuestion, withoutNoDates } from "./propose-time.ts";
import type { FileColumn, Survey } from "./survey.ts";
import { shownDay } from "./shown-time.ts";
import { countOfTime, createReader, DAY_MS, looksLikeDate, timeReadingsOf } from "./time-formats.ts";
import { type TimePair, timePairs } from "./time-pairs.ts";

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

/** Minutes and seconds with a fraction: what a spreadsheet shows of a date with milliseconds. */
const MINUTES = /^\d{1,2}:\d\d[.,]\d+$/;

/** Whether a text is surely a placeholder for a missing date. */
function isNoTime(text: string): boolean {
  return text.trim().length > 1 && isNoDate(text.trim());
}

/** A source with further aliases. */
function withAliases(source: Source, { values }: Pick<Source, "values">): Source {
  return values === undefined ? source : { ...source, values: { ...source.values, ...values } };
}

/** Whether fields are the same, or both of the agent. */
function areOfOne(field: string | undefined, other: string | undefined): boolean {
  if (field === undefined) return false;
  return field === other || (field.startsWith("agent_") && other?.startsWith("agent_") === true);
}

/** A row in which the first two completion dates are days apart, as a doubt: a person says which counts. */
function doubtOfDates(columns: readonly FileColumn[], sources: readonly Source[]): string[] {
  const [first = [], second = []] = sources.map((source) => {
    const own = columnsOf(source).map((column) => columns.find(({ name }) => name === column)?.cells ?? []);
    const read = createReader(source.format ?? "iso", "UTC");
    return own[0]?.map((_, at) => read(own.map((cells) => cells[at]).join(" "))) ?? [];
  });
  const row = first.findIndex((time, at) => Math.abs(Date.parse(time ?? "") - Date.parse(second[at] ?? "")) >= DAY_MS);
  if (row === -1) return [];
  const [day, other] = [first[row]!, second[row]!].map(shownDay);
  return [`in one row it is ${day}, and "${columnsOf(sources[1]!).join('" + "')}" is ${other}`];
}

/** Assigns columns to targets, each at most once. `choose-columns.ts` says in which order. */
export class Choices {
  readonly sources = new Map<string, Source>();
  readonly columns = new Map<
    number,
    Pick<Found, "isSure" | "reason" | "doubts"> & { readonly target: string | undefined }
  >();
  readonly questions: TimeQuestion[] = [];
  readonly pairs: readonly TimePair[];
  /** The fields that columns may be, by their indexes. */
  readonly rivals = new Map<number, string>();
  /** Names of several columns. */
  readonly #repeated: ReadonlySet<string>;
  readonly #all: readonly FileColumn[];
  readonly #survey: Survey;
  readonly #answers: TimeAnswers;

  constructor(columns: readonly FileColumn[], survey: Survey, answers: TimeAnswers) {
    const groups = [...Map.groupBy(columns, ({ words }) => words)];
    this.#repeated = new Set(groups.filter(([, { length }]) => length > 1).map(([words]) => words));
    this.#all = columns;
    this.pairs = timePairs(columns, survey, answers.now);
    this.#survey = survey;
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
    const found = checkValues(target, column, isNamed, this.#survey);
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
      const checked = checkValues(target, own[0]!, true, this.#survey);
      const isSplit = source.values !== undefined;
      if (checked === undefined && !isSplit && !isTaken) this.rejectValues(own[0]!, target);
      if (this.sources.has(target) || isTaken || (checked === undefined && !isSplit)) continue;
      const { values: emptyWords, ...trim } = source.columns ? {} : cleanTexts(target, own[0]!);
      const values = { ...emptyWords, ...source.values };
      this.sources.set(target, { ...source, ...trim, ...(Object.keys(values).length > 0 && { values }) });
      const [bracketed] = isSplit ? [] : Object.entries(withoutBrackets(target, own[0]!.survey));
      const said = bracketed === undefined ? "" : `, without brackets: "${bracketed[0]}" is "${bracketed[1]}"`;
      const doubts = isSplit ? doubtsOfLetters(own[0]!.survey.lost) : (checked?.doubts ?? []);
      for (const { index } of own) {
        if (!this.columns.has(index))
          this.columns.set(index, { target, isSure: isCertain, reason: reason + said, doubts });
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

  /** Notes that the values of a column don't fit the target that it is named after, unless it is taken. */
  rejectValues(column: FileColumn, target: string): void {
    const [value] = column.values;
    if (value === undefined || this.columns.has(column.index)) return;
    this.reject(column, target, `by its name it is ${target}, but values such as "${value}" don't fit`);
  }

  /** Takes all columns of completion dates, with the times of day of others. For each row, the first that isn't empty counts. */
  takeTimes(candidates: readonly { readonly column: FileColumn; readonly isNamed: boolean }[]): void {
    const free = candidates.filter(({ column }) => !this.columns.has(column.index));
    if (this.sources.has("completed_at") || free.length === 0) return;
    const read = free.flatMap(({ column, isNamed }) => {
      const { index, name, survey } = column;
      const isOf = ({ indexes: [date, clock], subject }: TimePair): boolean =>
        clock === index || (date === index && subject !== undefined);
      const pair = this.pairs.find(isOf);
      const joined = pair?.survey && pair;
      const time = proposeTime(joined?.source ?? { column: name }, joined?.survey ?? survey, this.#answers);
      if (time === undefined) return [];
      const source = joined ? time.source : withAliases(time.source, withoutEmptyWords("completed_at", column));
      const apart = pair && !joined ? [`the time of day is in "${pair.source.columns[1]}"`] : [];
      const doubts = [...apart, ...time.doubts, ...time.questions.map(({ kind }) => DOUBTS[kind])];
      const own = joined?.indexes ?? [index];
      // Both columns of a pair may be named after completion dates.
      return [[own.join(), { ...time, source, own, isNamed, doubts }] as const];
    });
    for (const { column } of free) this.#doubtTexts(column);
    const found = [...new Map(read).values()];
    const [first, ...others] = found.map(({ source }) => source);
    if (first === undefined) {
      this.#takeEmptyTime(free.find(({ column }) => column.values.every(isNoTime))?.column);
      return;
    }
    this.sources.set("completed_at", others.length === 0 ? first : { first_of: [first, ...others] });
    for (const [position, { own, isNamed, doubts, questions }] of found.entries()) {
      const before = found.slice(0, position).map(({ source }) => `"${columnsOf(source).join('" + "')}"`);
      const areEmpty = before.length === 1 ? "is empty" : "are empty";
      const order = before.length === 0 ? "" : `, where ${before.join(" and ")} ${areEmpty}`;
      const all = position === 0 ? [...doubtOfDates(this.#all, [first, ...others]), ...doubts] : doubts;
      const chosen = { target: "completed_at", isSure: isNamed, reason: `by name and values${order}`, doubts: all };
      for (const index of own) this.columns.set(index, chosen);
      this.questions.push(...questions);
    }
  }

  /** Notes the doubt about a column that is named after completion dates, but whose dates can't be read. */
  #doubtTexts(column: FileColumn): void {
    const { survey, values } = column;
    const isDate = (value: string): boolean => looksLikeDate(value) || MINUTES.test(value.trim());
    const dates = timeReadingsOf(survey.shapes, this.#answers.now) ? [] : values.filter(isDate);
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
