import { choicesOf, unansweredWords } from "@work-items/importer/proposals/known-choices.ts";
import type { TimeQuestion } from "@work-items/importer/proposals/propose-time.ts";
import { sourcesOf, type TargetState } from "@work-items/importer/proposals/target-states.ts";
import { comparable } from "@work-items/lib/uploads/csv/header-names.ts";
import { type Answered, localTimesOf, openQuestions } from "./answers.ts";
import { valuesAt } from "./sources.ts";
import type { SurveyedTable } from "./table-file.ts";
import { withOnly } from "./target-choices.ts";

type AnsweredFile = Answered & { readonly table: SurveyedTable };

/** What a person has yet to say about a target: its column, which dates a column has, or what its values mean. */
export type TargetQuestion =
  | { readonly kind: "column" }
  | Extract<TimeQuestion, { kind: "date" }>
  | ReturnType<typeof questionsAboutWords>[number];

/** Both have a harmless default, so that nothing is asked about them. */
export function hasDefault({ target }: Pick<TargetState, "target">): boolean {
  return target === "type" || target === "short_description";
}

/** Whether a person must look at a target before the file is sent. */
export function isOpen(state: TargetState): boolean {
  return (state.state === "asked" || state.state === "missing") && !hasDefault(state);
}

/** The questions about values whose meaning isn't known, one for each column of a target. */
function questionsAboutWords(
  { target, columns }: Pick<TargetState, "target" | "columns">,
  { table, mapping }: AnsweredFile,
) {
  return sourcesOf(target, { names: table.names, mapping })
    .filter(([field]) => choicesOf(field) !== undefined)
    .flatMap(([field, source]) =>
      columns.map(({ index, column: name }) => {
        const words = unansweredWords(field, source, valuesAt(table, index, mapping.empty ?? []));
        return { kind: "words", field, column: { index, name }, words } as const;
      }),
    )
    .filter((question) => question.words.length > 0);
}

/** The first open question about a target. */
export function questionAbout(answered: AnsweredFile, state: TargetState): TargetQuestion | undefined {
  const { table, mapping, checked, decisions } = answered;
  if (!isOpen(state)) return undefined;
  const { target, columns, candidates, value } = state;
  const own = new Set(columns.map(({ column }) => comparable(column)));
  const dates = openQuestions(table, mapping, checked).filter(
    (question) => question.kind === "date" && own.has(comparable(question.column)),
  );
  const words = questionsAboutWords(state, answered);
  // What the words mean also says whether it is the column. Which date it is may not matter.
  const isInDoubt = words.length === 0 && (dates.length === 0 || state.areColumnsLikely === true);
  const isSet = columns.length > 0 || value !== undefined;
  const isDecided = isSet && decisions[target] === "as mapped";
  if (!isDecided && (isInDoubt || candidates.length > columns.length)) return { kind: "column" };
  return [...dates, ...words].find((question) => question.kind !== "zone");
}

/** How many questions are open, if columns that are asked about are the first of those offered. */
export function questionsLeft(answered: AnsweredFile, states: readonly TargetState[]): number {
  const { table } = answered;
  let likely: Answered = answered;
  let left = 0;
  for (const state of states.filter(isOpen)) {
    const { target, columns, candidates } = state;
    const [first] = columns.length === 0 ? candidates : [];
    const question = questionAbout(answered, state);
    if (question === undefined || question.kind === "column") left++;
    if (first) likely = withOnly(table, likely, target, [first.column]);
    left += questionsAboutWords({ target, columns: first ? [first] : columns }, { ...likely, table }).length;
  }
  // One answer counts for all dates that begin alike.
  const orders = openQuestions(table, likely.mapping, likely.checked).flatMap((question) =>
    question.kind === "date" ? question.formats.map(([first]) => first).join("") : [],
  );
  return left + new Set(orders).size + localTimesOf(table, likely).filter(({ isAsked }) => isAsked).length;
}
