import { comparable } from "@work-items/lib/uploads/csv/header-names.ts";
import type { Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { doubtsOfLetters } from "../letters/lost-letters.ts";
import { NOT_COMPARED } from "../ids/repeated-ids.ts";
import { areEmails, isMost, doubtsOfPeople, unassignedIn, withoutBrackets } from "./agent-columns.ts";
import { doubtsOfLost, isEmptyWord } from "./empty-words.ts";
import { doubtsOfIds } from "./id-columns.ts";
import { aliasesOf, choicesOf, meaningsIn } from "./known-choices.ts";
import { firstSpellings } from "./known-headers.ts";
import type { FileColumn, Survey, SurveyedColumn } from "./survey.ts";

/** How sure a proposal is. A person should check what is only likely. */
export type Certainty = "certain" | "likely" | "unknown";

/** The source of a target, how it was recognized, and what speaks against it. */
export interface Found {
  readonly source: Source;
  readonly reason: string;
  /** Whether the name alone leaves no doubt, or the values confirm it. */
  readonly isSure: boolean;
  readonly doubts: readonly string[];
}

/** The one rule of what is certain: a sure name, and nothing that speaks against it. */
export function certaintyOf({ isSure, reason, doubts }: Pick<Found, "isSure" | "reason" | "doubts">) {
  const certainty: Certainty = isSure && doubts.length === 0 ? "certain" : "likely";
  return { certainty, reason: doubts.length === 0 ? reason : `${reason}, but ${doubts.join("; ")}` };
}

/** Words that mean an empty value in every column. */
export const SURELY_EMPTY: ReadonlySet<string> = new Set(["?", "null", "#n/a"]);

/** Aliases by which empty words are left out of IDs, agents, types and dates. Other fields keep them. */
export function withoutEmptyWords(target: string, { survey }: Pick<FileColumn, "survey">): Pick<Source, "values"> {
  const isAgent = target.startsWith("agent_");
  const isStrict = ["external_id", "completed_at", "type"].includes(target) || isAgent;
  const own = firstSpellings(survey.emptyWords.keys()).filter((word) => !SURELY_EMPTY.has(comparable(word)));
  const emptyWords = [...(isStrict ? own : []), ...(isAgent ? unassignedIn(survey) : [])];
  return emptyWords.length > 0 ? { values: Object.fromEntries(emptyWords.map((word) => [word, ""])) } : {};
}

/** Texts in which outer spaces would make two people or types of one. Those of IDs stay until a person decides. */
const TRIMMED: ReadonlySet<string> = new Set(["agent_name", "agent_external_id", "type"]);

/** How the texts of a field are read: without empty words and outer spaces. */
export function cleanTexts(target: string, column: Pick<FileColumn, "survey">): Pick<Source, "values" | "trim"> {
  const trims = TRIMMED.has(target) && column.survey.hasOuterSpaces;
  const people = target.startsWith("agent_") ? withoutBrackets(target, column.survey) : {};
  const values = { ...withoutEmptyWords(target, column).values, ...people };
  return { ...(Object.keys(values).length > 0 && { values }), ...(trims && { trim: true }) };
}

/** The texts of a column that may be choices: of all rows if they are few, otherwise of the first rows. */
export function wordsOf({ survey, values }: FileColumn): readonly string[] {
  return survey.words === undefined
    ? values
    : [...survey.words.keys()].filter((word) => !SURELY_EMPTY.has(comparable(word)));
}

/** More different texts aren't choices, unless some are known. */
export const CHOICES_MAX = 12;

/** The rows in which a column has no value, or a word for none. Rows without any value don't count. */
export function emptyRowsOf({ survey }: Pick<FileColumn, "survey">, { columns }: Pick<Survey, "columns">): number {
  const filled = ({ filledRows, emptyWords }: SurveyedColumn): number =>
    [...emptyWords.values()].reduce((rest, rows) => rest - rows, filledRows);
  return Math.max(...columns.map(filled)) - filled(survey);
}

/** Whether the values of a column confirm that it holds the choices of a target; undefined if they don't fit at all. */
function checkChoices(target: string, column: FileColumn, isNamed: boolean): Found | undefined {
  const { name, values } = column;
  const meaningOf = meaningsIn(target, []);
  const known = values.filter((value) => meaningOf(value) !== undefined).length;
  const source = { column: name, ...aliasesOf(target, wordsOf(column)) };
  if (isMost(known, values)) {
    return { source, isSure: true, reason: isNamed ? "by name" : "by name and values", doubts: [] };
  }
  const unknown = new Set(values.map(comparable)).size;
  if (!isNamed || (known === 0 && unknown > CHOICES_MAX)) return undefined;
  const doubts = values.length === 0 ? [] : [`${values.length - known} of ${values.length} values aren't known`];
  return { source, isSure: true, reason: "by name", doubts };
}

/** What the values of a column that is named after a target say about it; undefined if they don't fit. */
export function checkValues(target: string, column: FileColumn, isNamed: boolean, survey: Survey): Found | undefined {
  if (choicesOf(target)) return checkChoices(target, column, isNamed);
  const { name, values, index } = column;
  const source = { column: name, ...cleanTexts(target, column) };
  const letters = doubtsOfLetters(column.survey.lost);
  const named = (doubts: readonly string[] = []): Found => ({ source, isSure: isNamed, reason: "by name", doubts });
  if (target === "external_id") {
    const doubts = doubtsOfIds(column, isNamed, survey.ids.get(index) ?? NOT_COMPARED, emptyRowsOf(column, survey));
    if (survey.cut.includes(index)) doubts.push("the workbook doesn't show all of their digits");
    if (isNamed || values.length === 0 || doubts.length > 0) return named(doubts);
    return { source, isSure: true, reason: "by name and values", doubts };
  }
  if (target.startsWith("agent_")) {
    if (target === "agent_email" && values.length > 0 && !areEmails(values)) return undefined;
    const people = wordsOf(column).filter((word) => !isEmptyWord(word) && source.values?.[word] === undefined);
    const grouped = survey.grouped.includes(index) ? ["only the first row of each group has a value"] : [];
    return named([
      ...doubtsOfPeople(target, people),
      ...letters,
      ...grouped,
      ...doubtsOfLost(column.survey.emptyWords),
    ]);
  }
  return named(letters);
}
