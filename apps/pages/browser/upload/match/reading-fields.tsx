import { choicesOf, suggestionsIn, unansweredWords } from "@work-items/importer/proposals/known-choices.ts";
import { firstSpellings } from "@work-items/importer/proposals/known-headers.ts";
import { shownReading, zonedColumn } from "@work-items/importer/proposals/propose-time.ts";
import type { TargetName } from "@work-items/importer/proposals/target-states.ts";
import { timeReadingsOf } from "@work-items/importer/proposals/time-formats.ts";
import { columnIndex, comparable } from "@work-items/lib/uploads/csv/header-names.ts";
import { ATTRIBUTE_PREFIX } from "@work-items/lib/uploads/csv/target.ts";
import type { Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { type Answered, withFormat } from "../file/answers.ts";
import { type ColumnRole, withSource } from "../file/column-roles.ts";
import {
  aliasOf,
  exampleOfTimes,
  keyOf,
  pairsIn,
  rowsWith,
  surveyed,
  surveyedTimes,
  valuesAt,
  withAlias,
  withKey,
} from "../file/sources.ts";
import { withDecision } from "../file/target-choices.ts";
import type { TargetQuestion } from "../file/target-questions.ts";
import { shownNames, targetName } from "../file/target-texts.ts";
import { choiceOptions, shownChoice } from "../parts/field-names.ts";
import { Button, Check, Choice, OpenForm, Question, TextField } from "../parts/parts.tsx";
import { countOf } from "../parts/shown.ts";
import type { Match } from "../file/use-import.ts";
import type { FormProps } from "./match-line.ts";

/** Further values aren't shown. A column with so many is hardly a choice. */
const SHOWN_VALUES = 30;
/** A format or choice that isn't in the list. */
const OTHER = "other";
const OTHER_COLUMN = "Another column…";

/** A column whose source a person changes. */
interface ReadingProps {
  readonly match: Match;
  readonly column: Pick<ColumnRole, "index" | "name">;
  readonly source: Source;
  readonly onChange: (source: Source) => void;
}

/** A value, and the number of rows with it if that is known. */
function counted(table: Match["table"], index: number, value: string): string {
  const rows = rowsWith(table, index, value);
  return `“${value}”${rows === undefined ? "" : ` (${countOf(rows, "row")})`}`;
}

/** What a value of a choice means; undefined if that isn't known. */
function meaningOf(field: string, source: Source, word: string): string | undefined {
  return aliasOf(source, word) ?? (choicesOf(field)?.includes(word) ? word : source.otherwise);
}

/** Asks what the values without an answer mean, and shows those that are known. */
export function WordQuestion({
  match,
  target,
  question: { field, column, words },
  onNext,
  onOther,
}: FormProps & {
  readonly target: TargetName;
  readonly question: Extract<TargetQuestion, { kind: "words" }>;
  /** Called if it is another column, or none. */
  readonly onOther: () => void;
}) {
  const { table, mapping } = match;
  const source = mapping.fields?.[field] ?? {};
  const meant = targetName(target).toLowerCase();
  const answered = (values: Source["values"] = {}): Answered => {
    const read = withSource(mapping, "fields", field, { ...source, values, column: column.name });
    return withDecision({ ...match, mapping: read }, target, "as mapped");
  };
  const suggested = suggestionsIn(field, valuesAt(table, column.index, []));
  const known = valuesAt(table, column.index, mapping.empty ?? [])
    .filter((word) => !words.includes(word))
    .slice(0, SHOWN_VALUES);
  const isAlone = words.length === 1;
  const meanings = known.map((word) => `“${word}” = ${shownChoice(meaningOf(field, source, word) ?? "") || "nothing"}`);
  const knownNote = isAlone ? ` Known: ${meanings.join(", ")}.` : " Known words are preselected: please check.";
  const isNoted = known.length > 0 || (!isAlone && words.some(suggested));
  const isKept = mapping.fields?.[ATTRIBUTE_PREFIX + column.name] !== undefined;
  const kept = isKept ? ", which are kept as an attribute too" : "";
  const note = <p class="note">{`Values of “${column.name}”${kept}.${isNoted ? knownNote : ""}`}</p>;
  if (isAlone)
    return (
      <Question
        text={`What does the ${meant} ${counted(table, column.index, words[0]!)} mean?`}
        note={note}
        answers={[...choiceOptions(choicesOf(field) ?? []), ["", "Leave empty"], [OTHER, OTHER_COLUMN]]}
        chosen={suggested(words[0]!)}
        onChoose={(choice) => (choice === OTHER ? onOther() : onNext(answered(withAlias(source, words, choice))))}
      />
    );
  const open = unansweredWords(field, source, words);
  const isReady = open.every(suggested);
  const ready = open.reduce((all, word) => withAlias({ values: all }, [word], suggested(word)), source.values);
  return (
    <OpenForm title={`What does each ${meant} mean?`} {...{ note, isReady }} onNext={() => onNext(answered(ready))}>
      <WordFields
        {...{ match, column, source, suggested }}
        words={[...words, ...known]}
        target={field}
        onChange={(next) => match.onAnswer(answered(next.values))}
      />
      <Button kind="plain" onClick={onOther}>
        {OTHER_COLUMN}
      </Button>
    </OpenForm>
  );
}

/** What each value of a choice means. */
export function WordFields({
  match: { table, mapping },
  target,
  column: { index },
  source,
  words = valuesAt(table, index, mapping.empty ?? []).slice(0, SHOWN_VALUES),
  suggested,
  onChange,
}: ReadingProps & {
  readonly target: string;
  readonly words?: readonly string[];
  readonly suggested?: ReturnType<typeof suggestionsIn>;
}) {
  const choices = choicesOf(target) ?? [];
  return (
    <div class="words">
      {words.map((word) => (
        <Choice
          key={word}
          label={`${counted(table, index, word)} means`}
          value={meaningOf(target, source, word) ?? suggested?.(word) ?? "\0"}
          options={[["\0", "Choose…"], ...choiceOptions(choices), ["", "Leave empty"]]}
          onChange={(choice) =>
            onChange({ ...source, values: withAlias(source, [word], choice === "\0" ? undefined : choice) })
          }
        />
      ))}
    </div>
  );
}

/** Asks which number of a date is the day. */
export function DateQuestion({
  match,
  question: { column, example, formats },
  onNext,
}: FormProps & { readonly question: Extract<TargetQuestion, { kind: "date" }> }) {
  return (
    <Question
      text={`Which date is “${example}” in “${column}”?`}
      answers={formats.map((format) => [format, shownReading(example, format)])}
      onChoose={(format) => onNext(withFormat(match.table, match, column, format))}
    />
  );
}

/** Says that the times of day are in another column, although only the dates are imported. */
export function ClockNote({ match: { table, mapping } }: { readonly match: Match }) {
  const { column = "" } = mapping.fields?.["completed_at"] ?? {};
  const index = columnIndex(table.names, column);
  const clocks = pairsIn(table).flatMap(({ indexes, source }) =>
    indexes[0] === index ? `“${source.columns[1]}”` : [],
  );
  if (clocks.length === 0) return null;
  return <p class="unchecked">The time of day is in {clocks.join(" or ")}. Only the date is imported.</p>;
}

/** How date-times are read, each format as it reads a value of the file. */
export function TimeFields({ match, source, onChange }: Omit<ReadingProps, "column">) {
  const { table } = match;
  const { format = "iso" } = source;
  const { shapes = [] } = surveyedTimes(table, source) ?? {};
  const fitting: readonly string[] = timeReadingsOf(shapes, Date.now())?.formats ?? [];
  const example = exampleOfTimes(table, source) ?? "";
  const name = zonedColumn(source) ?? "";
  const isListed = format === "iso" || fitting.includes(format);
  const listed = new Set([...(format === "iso" ? [format] : []), ...fitting]);
  return (
    <div class="fields">
      <Choice
        label={`“${example}” in ${shownNames(keyOf(source))} is`}
        value={isListed ? format : OTHER}
        options={[
          ...[...listed].map((each) => [each, shownReading(example, each)] as const),
          [OTHER, "Another format…"],
        ]}
        onChange={(chosen) =>
          match.onAnswer(withFormat(table, match, name, chosen === OTHER ? "yyyy-MM-dd'T'HH:mm" : chosen))
        }
      />
      {!isListed && (
        <TextField
          label="Unicode date pattern"
          value={format}
          onChange={(chosen) => onChange({ ...source, format: chosen })}
        />
      )}
    </div>
  );
}

/** Asks which words, and for date-times which dates, mean that there is no value. */
export function EmptyMarks({
  match: { table, mapping },
  column,
  source,
  onChange,
  hasTimes,
}: ReadingProps & { readonly hasTimes: boolean }) {
  const listed = new Set(mapping.empty?.map(comparable));
  const { emptyWords: words, noDates } = surveyed(table, column.index);
  const found = firstSpellings([...words.keys(), ...(hasTimes ? noDates.keys() : [])]);
  const marks = found.filter((mark) => !listed.has(comparable(mark)));
  return (
    <>
      {marks.map((mark) => (
        <Check
          key={mark}
          checked={aliasOf(source, mark) === ""}
          onChange={(checked) => {
            const values = withAlias(source, [mark], checked ? "" : undefined);
            onChange(withKey(source, "values", Object.keys(values).length === 0 ? undefined : values));
          }}
        >
          “{mark}” means “empty”
        </Check>
      ))}
    </>
  );
}
