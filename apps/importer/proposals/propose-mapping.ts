import type { Delimiter } from "../../../lib/uploads/csv/delimiter.ts";
import { nameOfColumn } from "../../../lib/uploads/csv/csv-columns.ts";
import { comparable, isReportColumn, numberedNames } from "../../../lib/uploads/csv/header-names.ts";
import { doubtOfIds, isDistinct, isIdentifier, isMeasure } from "./id-columns.ts";
import { keptColumns, repeatedNames } from "./kept-columns.ts";
import { agentFields, areEmails, isMost, unassignedIn } from "./agent-columns.ts";
import {
  agentOfBareName,
  firstSpellings,
  isCustomer,
  plainWords,
  targetOfName,
  targetOfTypo,
} from "./known-headers.ts";
import { aliasesOf, CHOICE_FIELDS, choicesOf, meaningsIn, unknownIn } from "./known-choices.ts";
import type { Mapping, Source } from "../../../lib/uploads/mapping/mapping.ts";
import { isNoDate } from "./no-dates.ts";
import {
  DOUBTS,
  proposeTime,
  type TimeAnswers,
  type TimeQuestion,
  timesOfDay,
  withoutNoDates,
  withoutZone,
} from "./propose-time.ts";
import { countOfTime, looksLikeDate, timeReadingsOf } from "./time-formats.ts";
import { isEmptyWord, type NumberedRow, type Survey, type SurveyedColumn, surveyOf, totalsIn } from "./survey.ts";

/** The header of a file and its first rows. */
export interface Sample extends TimeAnswers {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly delimiter: Delimiter;
  /** Number of the header's row. @default 1 */
  readonly headerRow?: number;
  /** What is known from all rows. @default what the first rows show */
  readonly survey?: Survey | undefined;
}

/** How sure a proposal is. A person should check what is only likely. */
export type Certainty = "certain" | "likely" | "unknown";

/** What a column of a file is proposed to become. */
export interface ProposedColumn {
  /** Its index in the file. */
  readonly index: number;
  /** Its name in mappings. */
  readonly column: string;
  /** The field, or `custom_attributes.<name>`; undefined if unknown: then `others` decides. */
  readonly target: string | undefined;
  readonly certainty: Certainty;
  /** Why, such as "by name"; empty if unknown. */
  readonly reason: string;
}

/** A word that may mean an empty value, and the columns that keep it. */
interface KeptEmptyWord {
  readonly word: string;
  readonly columns: readonly string[];
}

/** A mapping for a file, with its reasons and doubts. */
export interface Proposal {
  readonly mapping: Mapping;
  /** All columns of the file, in order. */
  readonly columns: readonly ProposedColumn[];
  /** Why the header may be a row of data; undefined without doubt. */
  readonly headerDoubt?: string | undefined;
  /** Texts for fields with choices whose meaning a person has to choose. */
  readonly unknownWords?: readonly { readonly target: string; readonly words: readonly string[] }[];
  /** What a person has to answer before the file is imported. */
  readonly questions?: readonly TimeQuestion[];
  /** Rows that aren't items, such as sums. */
  readonly totals?: readonly NumberedRow[];
  readonly keptEmptyWords?: readonly KeptEmptyWord[];
}

/** Words that mean an empty value in every column. */
const SURELY_EMPTY: ReadonlySet<string> = new Set(["?", "null", "#n/a"]);
/** With more columns, names aren't searched for typos, which takes seconds. */
const COMPARED_COLUMNS_MAX = 1000;

/** More different texts aren't choices, unless some are known. */
const CHOICES_MAX = 12;

/** A named column with its sample values. */
interface Column {
  readonly index: number;
  readonly name: string;
  /** The name in the spelling of `plainWords`. */
  readonly words: string;
  /** Its cells in the first rows, without empty words. */
  readonly values: readonly string[];
  readonly survey: SurveyedColumn;
}

/** The source of a target, and how sure it is. */
interface Found {
  readonly source: Source;
  readonly certainty: Certainty;
  readonly reason: string;
}

/** The texts of a column that may be choices: of all rows if they are few, otherwise of the first rows. */
function wordsOf({ survey, values }: Column): readonly string[] {
  return survey.words === undefined
    ? values
    : [...survey.words.keys()].filter((word) => !SURELY_EMPTY.has(comparable(word)));
}

/** Checks the cells of a column that is named after a target; undefined if they don't fit. */
function checkValues(target: string, column: Column, rows: number, isCertain: boolean): Found | undefined {
  const { name, values } = column;
  const found = (source: Source, certainty: Certainty, reason: string): Found => ({ source, certainty, reason });
  const source = { column: name, ...withoutEmptyWords(target, column) };
  const named = (each: Source): Found => found(each, isCertain ? "certain" : "likely", "by name");
  if (target === "external_id") {
    const doubt = doubtOfIds(column, isCertain);
    if (doubt !== undefined) return found(source, "likely", `by name, but ${doubt}`);
    const isFilled = rows > 0 && values.length === rows;
    return isFilled ? found(source, "certain", isCertain ? "by name" : "by name and values") : named(source);
  }
  if (target === "agent_email") {
    return values.length > 0 && !areEmails(values) ? undefined : named(source);
  }
  if (choicesOf(target)) {
    const meaningOf = meaningsIn(target, []);
    const known = values.filter((value) => meaningOf(value) !== undefined).length;
    const translated = { column: name, ...aliasesOf(target, wordsOf(column)) };
    if (isMost(known, values)) return found(translated, "certain", isCertain ? "by name" : "by name and values");
    const unknown = new Set(values.map(comparable)).size;
    if (!isCertain || (known === 0 && unknown > CHOICES_MAX)) return undefined;
    if (values.length === 0) return named(translated);
    return found(translated, "likely", `by name, but ${values.length - known} of ${values.length} values aren't known`);
  }
  if (target === "type" && values.length > CHOICES_MAX && isDistinct(column)) {
    return found(source, "likely", "by name, but no two values are the same");
  }
  return named(source);
}

/** Whether a text is surely a placeholder for a missing date. */
function isNoTime(text: string): boolean {
  return text.trim().length > 1 && isNoDate(text.trim());
}

/** A source with further aliases. */
function withAliases(source: Source, { values }: Pick<Source, "values">): Source {
  return values === undefined ? source : { ...source, values: { ...source.values, ...values } };
}

/** Aliases by which empty words are left out of IDs, agents, types and dates. Other fields keep them. */
function withoutEmptyWords(target: string, { survey }: Column): Pick<Source, "values"> {
  const isAgent = target.startsWith("agent_");
  const isStrict = ["external_id", "completed_at", "type"].includes(target) || isAgent;
  const emptyWords = [...(isStrict ? emptyWordsOf(survey) : []), ...(isAgent ? unassignedIn(survey) : [])];
  return emptyWords.length > 0 ? { values: Object.fromEntries(emptyWords.map((word) => [word, ""])) } : {};
}

/** The empty words of a column, each once, without those that are empty in every column. */
function emptyWordsOf({ emptyWords }: SurveyedColumn): string[] {
  return [...new Set([...emptyWords.keys()].map(comparable))].filter((word) => !SURELY_EMPTY.has(word));
}

/** Whether all cells are known words for at least two choices of a field. */
function holdsChoices(target: string, { values }: Column): boolean {
  const meaningOf = meaningsIn(target, []);
  return values.every((value) => meaningOf(value) !== undefined) && new Set(values.map(meaningOf)).size > 1;
}

/** Assigns columns to targets, each at most once. */
class Choices {
  readonly sources = new Map<string, Source>();
  readonly columns = new Map<number, Omit<ProposedColumn, "index" | "column">>();
  readonly questions: TimeQuestion[] = [];
  /** Names of several columns. */
  readonly #repeated: ReadonlySet<string>;
  readonly #all: readonly Column[];
  readonly #rows: number;
  readonly #answers: TimeAnswers;

  /** @param rows number of rows in the sample */
  constructor(columns: readonly Column[], rows: number, answers: TimeAnswers) {
    const groups = [...Map.groupBy(columns, ({ words }) => words)];
    this.#repeated = new Set(groups.filter(([, { length }]) => length > 1).map(([words]) => words));
    this.#all = columns;
    this.#rows = rows;
    this.#answers = answers;
  }

  /** Takes a column for a target, unless either is taken or the cells don't fit. */
  take(target: string, column: Column, isCertain: boolean, reason?: string): void {
    if (target === "completed_at") {
      this.takeTimes([{ column, isCertain: isCertain && reason === undefined }]);
      return;
    }
    if (this.sources.has(target) || this.columns.has(column.index)) return;
    const found = checkValues(target, column, this.#rows, isCertain);
    if (found === undefined) return;
    this.sources.set(target, found.source);
    const doubt =
      reason ?? (this.#repeated.has(column.words) ? "by name, but another column has the same name" : undefined);
    const why = doubt === undefined ? found : { certainty: "likely" as const, reason: doubt };
    this.columns.set(column.index, { target, certainty: why.certainty, reason: why.reason });
  }

  /** Takes the fields of the agent. */
  takeAgents(columns: readonly Column[]): void {
    for (const { target, columns: own, source, isCertain, reason } of agentFields(columns)) {
      const isTaken = own.some(
        ({ index }) => this.columns.has(index) && this.columns.get(index)?.target !== "agent_name",
      );
      const checked = checkValues(target, own[0]!, this.#rows, true);
      const isSplit = source.values !== undefined;
      if (this.sources.has(target) || isTaken || (checked === undefined && !isSplit)) continue;
      const emptyWords = source.columns ? {} : withoutEmptyWords(target, own[0]!);
      const values = { ...emptyWords.values, ...source.values };
      this.sources.set(target, { ...source, ...(Object.keys(values).length > 0 && { values }) });
      const certainty = isCertain ? "certain" : "likely";
      for (const { index } of own) {
        if (!this.columns.has(index)) this.columns.set(index, { target, certainty, reason });
      }
    }
  }

  /** Takes all columns of completion dates. For each row, the first that isn't empty counts. */
  takeTimes(candidates: readonly { readonly column: Column; readonly isCertain: boolean }[]): void {
    const free = candidates.filter(({ column }) => !this.columns.has(column.index));
    if (this.sources.has("completed_at") || free.length === 0) return;
    const found = free.flatMap(({ column, isCertain }) => {
      const time = proposeTime(column.name, column.survey, this.#answers);
      return time ? [{ column, isCertain, time }] : [];
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
    for (const [index, { column, isCertain, time }] of found.entries()) {
      const before = found.slice(0, index).map((each) => `"${each.column.name}"`);
      const areEmpty = before.length === 1 ? "is empty" : "are empty";
      const order = before.length === 0 ? "" : `, where ${before.join(" and ")} ${areEmpty}`;
      const clock = timesOfDay(column, this.#all);
      const doubts = [
        ...(clock === undefined ? [] : [`the time of day is in "${clock.name}"`]),
        ...time.doubts,
        ...time.questions.map(({ kind }) => DOUBTS[kind]),
      ];
      this.columns.set(column.index, {
        target: "completed_at",
        certainty: isCertain && doubts.length === 0 ? "certain" : "likely",
        reason: `by name and values${order}${doubts.map((doubt) => `; ${doubt}`).join("")}`,
      });
      this.questions.push(...time.questions);
    }
  }

  /** Notes the doubt about a column that is named after completion dates, but whose dates can't be read. */
  #doubtTexts({ index, survey, values }: Column): void {
    const dates = timeReadingsOf(survey.shapes) ? [] : values.filter(looksLikeDate);
    if (!isMost(dates.length, values)) return;
    const count = countOfTime(dates[0]!);
    const advice = count === undefined ? "" : `; it looks like ${count}. Export the column as dates`;
    const reason = `by its name it has completion dates, but values such as "${dates[0]}" can't be read as dates${advice}`;
    this.columns.set(index, { target: undefined, certainty: "likely", reason });
  }

  #takeEmptyTime(column: Column | undefined): void {
    if (column === undefined) return;
    const source = { column: column.name, time_zone: this.#answers.timeZone, ...withoutNoDates(column.survey) };
    this.sources.set("completed_at", withAliases(source, withoutEmptyWords("completed_at", column)));
    this.columns.set(column.index, {
      target: "completed_at",
      certainty: "likely",
      reason: "by name; it has no values yet",
    });
  }

  hasAgent(): boolean {
    return [...this.sources.keys()].some((target) => target.startsWith("agent_"));
  }
}

function choose(columns: readonly Column[], rows: number, answers: TimeAnswers): Choices {
  const choices = new Choices(columns, rows, answers);
  for (const column of columns) {
    const own = nameOfColumn(column.name);
    if (own !== undefined) choices.take(own, column, true);
  }
  const known = columns
    .flatMap((column) => {
      const named = targetOfName(column.words);
      return named ? [{ column, ...named }] : [];
    })
    .toSorted((a, b) => a.rank - b.rank);
  for (const { target, column, isCertain } of known) {
    if (target !== "completed_at") choices.take(target, column, isCertain);
  }
  const times = known.filter(({ target }) => target === "completed_at");
  choices.takeTimes(times.filter(({ isCertain }) => isCertain));
  choices.takeTimes(times);
  if (!choices.hasAgent()) choices.takeAgents(columns);
  if (columns.length <= COMPARED_COLUMNS_MAX) {
    for (const column of columns) {
      const target = targetOfTypo(column.words);
      if (target?.startsWith("agent_") && choices.hasAgent()) continue;
      if (target !== undefined) choices.take(target, column, false, "by a similar name");
    }
  }
  if (!choices.hasAgent() && !columns.some(({ words }) => isCustomer(words))) {
    for (const column of columns) {
      const target = agentOfBareName(column.words);
      if (target !== undefined) choices.take(target, column, false);
    }
  }
  for (const target of CHOICE_FIELDS) {
    for (const column of columns) if (holdsChoices(target, column)) choices.take(target, column, true, "by values");
  }
  const ids = columns.filter((column) => column.values.length === rows && isDistinct(column));
  for (const column of ids) {
    // Searching thousands of columns for dates would take minutes.
    if (choices.sources.has("external_id")) break;
    if (isIdentifier(column)) choices.take("external_id", column, false, "by values: no two are the same");
  }
  return choices;
}

/** Why the header may be a row of data: the name of a column is also one of its values. */
function headerDoubtOf(columns: readonly Column[]): string | undefined {
  const found = columns.find(({ name, values }) => values.some((value) => value.trim() === name.trim()));
  return (
    found && `the header may be a row of data: "${found.name}" is also a value of its column. If so, add a header row`
  );
}

/** The empty words that are kept, because a word such as "None" can be a choice. */
function keptEmptyWordsOf(columns: readonly Column[], choices: Choices): KeptEmptyWord[] {
  const kept = columns.flatMap((column) => {
    const target = choices.columns.get(column.index)?.target ?? "";
    const isKept = choicesOf(target) === undefined && withoutEmptyWords(target, column).values === undefined;
    return isKept ? emptyWordsOf(column.survey).map((word) => ({ word, column: column.name })) : [];
  });
  return [...Map.groupBy(kept, ({ word }) => word)].map(([word, found]) => ({
    word,
    columns: found.map(({ column }) => column),
  }));
}

/** Proposes a mapping for a file, by the names and values of its columns. */
export function proposeMapping(sample: Sample): Proposal {
  const { names, rows, delimiter, headerRow = 1 } = sample;
  const survey = sample.survey ?? surveyOf(names, rows, headerRow + 1);
  const odd = new Set(survey.totals.map(({ row }) => row));
  const filled = rows.filter(
    (cells, index) => cells.some((cell) => cell.trim() !== "") && !odd.has(headerRow + 1 + index),
  );
  const all = numberedNames(names).map((name, index) => ({ name, index }));
  const named = all.filter(({ name }) => name !== "" && !isReportColumn(name));
  const repeated = repeatedNames(named);
  const columns = named
    .filter(({ name }) => !repeated.has(comparable(name)))
    .map(({ name, index }): Column => ({
      index,
      name,
      // From the header: in mappings, the second of two equal names has a number.
      words: plainWords(withoutZone(names[index]!.trim())),
      values: filled
        .map((cells) => cells[index] ?? "")
        .filter((cell) => cell.trim() !== "" && !isEmptyWord(cell.trim())),
      survey: survey.columns[index]!,
    }));
  const choices = choose(columns, filled.length, sample);
  const { external_id: id, ...others } = Object.fromEntries(choices.sources);
  const columnOf = (target: string): Column | undefined =>
    columns.find(({ index }) => choices.columns.get(index)?.target === target);
  const fields = { ...(id && { external_id: id }), ...others };
  const hasNameless = all.some(({ name, index }) => name === "" && survey.columns[index]!.hasValues);
  const free = named
    .filter(({ index }) => choices.columns.get(index)?.target === undefined)
    .map((column) => {
      const isNumber = survey.columns[column.index]!.isNumeric && isMeasure(plainWords(column.name));
      return { ...column, isNumber };
    });
  const kept = keptColumns(free, fields, hasNameless);
  const emptyWords = new Set(survey.columns.flatMap((column) => [...column.emptyWords.keys()].map(comparable)));
  const empty = [...SURELY_EMPTY].filter((word) => emptyWords.has(word));
  return {
    mapping: {
      fields: { ...fields, ...kept.fields },
      others: kept.others,
      ...(empty.length > 0 && { empty }),
      ...(headerRow !== 1 && { header_row: headerRow }),
      ...(delimiter !== "," && { delimiter }),
    },
    columns: all.map(({ name, index }): ProposedColumn => {
      const chosen = choices.columns.get(index) ?? { target: undefined, certainty: "unknown", reason: "" };
      return { index, column: name, ...chosen };
    }),
    headerDoubt: headerDoubtOf(columns),
    unknownWords: CHOICE_FIELDS.flatMap((target) => {
      const column = columnOf(target);
      const words = column ? firstSpellings(unknownIn(target, wordsOf(column))) : [];
      return words.length > 0 ? [{ target, words }] : [];
    }),
    questions: choices.questions,
    totals: totalsIn(survey, names, columnOf("external_id")?.index),
    keptEmptyWords: keptEmptyWordsOf(columns, choices),
  };
}
