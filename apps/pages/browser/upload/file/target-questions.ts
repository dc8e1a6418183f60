import { choicesOf, unansweredWords } from "@work-items/importer/proposals/known-choices.ts";
import type { TimeQuestion } from "@work-items/importer/proposals/propose-time.ts";
import { type NamedIndex, sourcesOf, type TargetState } from "@work-items/importer/proposals/target-states.ts";
import { comparable } from "@work-items/lib/uploads/csv/header-names.ts";
import type { Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { type Answered, openQuestions } from "./answers.ts";
import { valuesAt } from "./sources.ts";
import type { SurveyedTable } from "./table-file.ts";

/** What a person has yet to say about a target: its column, which dates a column has, or what its values mean. */
export type TargetQuestion =
  | { readonly kind: "column" }
  | Extract<TimeQuestion, { kind: "date" }>
  | {
      readonly kind: "words";
      readonly field: string;
      readonly column: NamedIndex;
      readonly source: Source;
      readonly words: readonly string[];
    };

/** Both have a harmless default, so that nothing is asked about them. */
export function hasDefault({ target }: Pick<TargetState, "target">): boolean {
  return target === "type" || target === "short_description";
}

/** Whether a person must look at a target before the file is sent. */
export function isOpen(state: TargetState): boolean {
  return (state.state === "asked" || state.state === "missing") && !hasDefault(state);
}

/** The first open question about a target. */
export function questionAbout(
  { table, mapping, checked, decisions }: Answered & { readonly table: SurveyedTable },
  state: TargetState,
): TargetQuestion | undefined {
  if (!isOpen(state)) return undefined;
  const { target, columns, candidates, value } = state;
  const own = new Set(columns.map(({ column }) => comparable(column)));
  const dates = openQuestions(table, mapping, checked).filter(
    (question) => question.kind === "date" && own.has(comparable(question.column)),
  );
  const words = sourcesOf(target, { names: table.names, mapping })
    .filter(([field]) => choicesOf(field) !== undefined)
    .flatMap(([field, source]) =>
      columns.map((column) => {
        const values = valuesAt(table, column.index, mapping.empty ?? []);
        return { kind: "words", field, column, source, words: unansweredWords(field, source, values) } as const;
      }),
    )
    .filter((question) => question.words.length > 0);
  // What the words mean also says whether it is the column. Which date it is may not matter.
  const isInDoubt = words.length === 0 && (dates.length === 0 || state.areColumnsLikely === true);
  const isSet = columns.length > 0 || value !== undefined;
  const isDecided = isSet && decisions[target] === "as mapped";
  if (!isDecided && (isInDoubt || candidates.length > columns.length)) return { kind: "column" };
  return [...dates, ...words].find((question) => question.kind !== "zone");
}
