import { choicesOf, unansweredWords } from "@work-items/importer/proposals/known-choices.ts";
import type { TimeQuestion } from "@work-items/importer/proposals/propose-time.ts";
import { sourcesOf, type TargetState } from "@work-items/importer/proposals/target-states.ts";
import { comparable } from "@work-items/lib/uploads/csv/header-names.ts";
import { type Answered, openQuestions } from "./answers.ts";
import { countOf } from "../parts/shown.ts";
import { valuesAt } from "./sources.ts";
import { targetQuestion } from "./target-texts.ts";
import type { SurveyedTable } from "./table-file.ts";

/** What a person has yet to say about a target. */
export interface TargetQuestions {
  /** Whether it must be said what sets it. */
  readonly isColumnAsked: boolean;
  readonly times: readonly TimeQuestion[];
  /** Values of a choice whose meaning isn't known. */
  readonly words: readonly string[];
}

const NONE: TargetQuestions = { isColumnAsked: false, times: [], words: [] };

/** The open questions about a target. */
export function questionsAbout(
  { table, mapping, checked, decisions }: Answered & { readonly table: SurveyedTable },
  state: TargetState,
): TargetQuestions {
  if (state.state === "missing") return { ...NONE, isColumnAsked: true };
  if (state.state !== "asked") return NONE;
  const own = new Set(state.columns.map(({ column }) => comparable(column)));
  const times = openQuestions(table, mapping, checked).filter(({ column }) => own.has(comparable(column)));
  const words = sourcesOf(state.target, { names: table.names, mapping })
    .filter(([field]) => choicesOf(field) !== undefined)
    .flatMap(([field, source]) =>
      state.columns.flatMap(({ index }) => unansweredWords(field, source, valuesAt(table, index, mapping.empty ?? []))),
    );
  // What the words mean also says whether it is the column. Which date or time zone it is may not matter.
  const isInDoubt = words.length === 0 && (times.length === 0 || state.areColumnsLikely === true);
  const areRivals = state.candidates.length > state.columns.length;
  const isSet = state.columns.length > 0 || state.value !== undefined;
  const isDecided = isSet && decisions[state.target] === "as mapped";
  return { times, words, isColumnAsked: !isDecided && (isInDoubt || areRivals) };
}

/** Whether a person must look at a target before the file is sent. */
export function isOpen({ state }: TargetState): boolean {
  return state === "asked" || state === "missing";
}

/** The first open question about a target, in a few words; empty if there is none. */
export function shownQuestion(
  { isColumnAsked, times, words }: TargetQuestions,
  { target, state }: TargetState,
): string {
  if (state === "missing") return "";
  if (isColumnAsked) return targetQuestion(target);
  const [time] = times;
  if (time) return time.kind === "date" ? "Day or month first?" : "Which time zone are these times in?";
  return words.length === 0 ? "" : `${countOf(words.length, "value")} to choose`;
}
