import { choicesOf, unansweredWords, unknownIn } from "@work-items/importer/proposals/known-choices.ts";
import { plainWords } from "@work-items/importer/proposals/known-headers.ts";
import { joinedTime, shownReading, timesOfDay } from "@work-items/importer/proposals/propose-time.ts";
import { readTime, TIME_FORMATS, timeReadingsOf } from "@work-items/importer/proposals/time-formats.ts";
import { useState } from "preact/hooks";
import { comparable, numberedNames } from "@work-items/lib/uploads/csv/header-names.ts";
import type { Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { type Answered, openQuestions, withFormat, withZone } from "../file/answers.ts";
import { withDecision } from "../file/target-choices.ts";
import { type Answer, Asked } from "../parts/asked.tsx";
import type { Misfit } from "../file/check-rows.ts";
import type { ColumnRole } from "../file/column-roles.ts";
import { choiceOptions } from "../parts/field-names.ts";
import { Button, Check, Choice, Question, TextField } from "../parts/parts.tsx";
import { countOf, shownNumber, shownTime } from "../parts/shown.ts";
import { aliasOf, rowsWith, surveyed, TIME_ZONE, valuesAt, withAlias, withKey } from "../file/sources.ts";
import type { Match } from "../file/use-import.ts";

/** Further values aren't asked for or shown. A column with so many is hardly a choice. */
const SHOWN_VALUES = 30;
/** How many of the values that get one answer are named. */
const NAMED_VALUES = 5;
const CHOOSE = "\0";
/** A format that isn't in the list. */
const OTHER = "other";

/** A column whose source a person changes. */
interface ReadingProps {
  readonly match: Match;
  readonly column: Pick<ColumnRole, "index" | "name">;
  readonly source: Source;
  readonly onChange: (source: Source) => void;
}
/** What happens with an answer whose question goes away. */
interface AnswerProps {
  readonly onAnswer: (answered: Answered) => void;
}

/** Values in a line; only the first, if they are many. */
function shownValues(values: readonly string[]): string {
  const named = values.slice(0, NAMED_VALUES).map((value) => `“${value}”`);
  return `${named.join(", ")}${values.length > NAMED_VALUES ? ` and ${values.length - NAMED_VALUES} more` : ""}`;
}

/** Asks what each unknown value means, and shows what each known one means. */
export function ChoiceReading({
  match: { table, mapping },
  target,
  column: { index },
  source,
  onChange,
}: ReadingProps & { readonly target: string }) {
  const choices = choicesOf(target) ?? [];
  const values = valuesAt(table, index, mapping.empty ?? []);
  const unknown = unknownIn(target, values);
  const open = unansweredWords(target, source, values);
  const known = values.filter((value) => !unknown.includes(value));
  const setAll = (texts: readonly string[], choice: string | undefined): void =>
    onChange({ ...source, values: withAlias(source, texts, choice) });
  return (
    <>
      {unknown.slice(0, SHOWN_VALUES).map((value) => {
        const rows = rowsWith(table, index, value);
        return (
          <Question
            key={value}
            text={`“${value}” means${rows === undefined ? "" : ` (${countOf(rows, "row")})`}`}
            answers={[...choiceOptions(choices), ["", "Leave empty"]]}
            chosen={aliasOf(source, value) ?? source.otherwise}
            onChoose={(choice) => setAll([value], choice)}
          />
        );
      })}
      {open.length > 1 && (
        <Choice
          label={`All values without an answer (${shownValues(open)}) mean`}
          value={CHOOSE}
          options={[[CHOOSE, "Choose…"], ...choiceOptions(choices), ["", "Leave empty"]]}
          onChange={(choice) => setAll(open, choice)}
        />
      )}
      {known.length > 0 && (
        <details>
          <summary>{countOf(known.length, "recognized value")}</summary>
          <div class="fields">
            {known.slice(0, SHOWN_VALUES).map((value) => (
              <Choice
                key={value}
                label={`“${value}” means`}
                value={aliasOf(source, value) ?? (choices.includes(value) ? value : (source.otherwise ?? ""))}
                options={[["", "Choose…"], ...choiceOptions(choices)]}
                onChange={(choice) => setAll([value], choice || undefined)}
              />
            ))}
          </div>
        </details>
      )}
    </>
  );
}

/** A time zone, and a date-time read in it. */
function inZone(zone: string, example: string, format: string): Answer {
  const time = readTime(example, format, zone);
  const own = zone === TIME_ZONE ? " (this computer’s)" : "";
  const examples = time === undefined ? [] : [`“${example}” is ${shownTime(time)} on this computer’s clock`];
  return { answer: zone, shown: zone + own, examples };
}

/** Completion dates joined with the times of day of another column. */
function withJoined({ mapping, ...match }: Match, completedAt: Source): Answered {
  const fields = { ...mapping.fields, completed_at: completedAt };
  return withDecision({ ...match, mapping: { ...mapping, fields } }, "completed_at", "as mapped");
}

/** How date-times are read: asks which number is the day and which time zone they are in, if the file doesn't say. */
export function TimeReading({
  match,
  column: { index, name },
  source,
  isAskedLater,
  onChange,
  onAnswer,
}: ReadingProps & AnswerProps & { readonly isAskedLater: boolean }) {
  const { table, mapping, checked } = match;
  const { format = "iso", time_zone: zone = "" } = source;
  const { shapes } = surveyed(table, index);
  const open = openQuestions(table, mapping, checked).filter(({ column }) => comparable(column) === comparable(name));
  const asked = new Set(open.map(({ kind }) => kind));
  /** The likely time zones: that of the mapping or the last file, and this computer's. */
  const [offered] = useState(() => [...new Set([zone || TIME_ZONE, TIME_ZONE, "UTC"])]);
  const readings = timeReadingsOf(shapes, Date.now());
  const formats: readonly string[] = readings?.formats ?? [];
  const { example = shapes[0]?.examples[0], needsZone = false } = readings ?? {};
  const ordered = [...formats, ...TIME_FORMATS.filter((each) => !formats.includes(each))];
  const shownFormat = (each: string): string =>
    (each === "iso" ? "ISO 8601 (2026-01-31 09:30)" : each) + (formats.includes(each) ? " · fits" : "");
  const isListed = ordered.includes(format);
  const selected = isListed ? format : OTHER;
  // A date can't be converted before its format is known.
  const isDateAsked = formats.length > 1 && asked.has("date");
  const isZoneAsked = needsZone && asked.has("zone");
  const columns = numberedNames(table.names).map((column, at) => ({
    column,
    words: plainWords(column),
    values: valuesAt(table, at, mapping.empty ?? []),
  }));
  const own = columns[index];
  const clock = own && timesOfDay(own, columns);
  const isAlone = mapping.fields?.["completed_at"]?.column === source.column;
  const joined =
    clock && isAlone && asked.size === 0
      ? joinedTime(source, { name: clock.column, values: clock.values }, own.values[0] ?? "")
      : undefined;
  return (
    <>
      {clock && (
        <p class="unchecked">
          The time of day is in “{clock.column}”. Only the date is imported.{" "}
          {joined && <Button onClick={() => onAnswer(withJoined(match, joined))}>Join date and time</Button>}
        </p>
      )}
      {isDateAsked && !isAskedLater && example !== undefined && (
        <Asked
          text={`Which date is “${example}”?`}
          answers={formats.map((each) => ({ answer: each, shown: shownReading(example, each) }))}
          onAnswer={(chosen) => onAnswer(withFormat(table, match, name, chosen))}
        />
      )}
      {isZoneAsked && !isAskedLater && example !== undefined && !isDateAsked && (
        <Asked
          text="Which time zone are these times in?"
          answers={offered.map((each) => inZone(each, example, format))}
          onAnswer={(chosen) => onAnswer(withZone(table, match, name, chosen))}
        />
      )}
      <div class="fields">
        <Choice
          label={example === undefined ? "Date format" : `Date format (for example, ${example})`}
          value={isDateAsked ? "" : selected}
          options={[
            ...(isDateAsked ? [["", "Choose…"] as const] : []),
            ...ordered.map((each) => [each, shownFormat(each)] as const),
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
        {!format.startsWith("unix") && (
          <TextField
            label="Time zone"
            value={isZoneAsked ? "" : zone}
            list="time-zones"
            onChange={(chosen) => match.onAnswer(withZone(table, match, name, chosen))}
          />
        )}
      </div>
    </>
  );
}

/** Says how many of the first rows don't fit what a column becomes. */
export function MisfitNote({ misfit }: { readonly misfit: Misfit | undefined }) {
  if (misfit === undefined) return null;
  return (
    <p class="note bad">
      <strong>{countOf(misfit.rows, "row")}</strong> of the first {shownNumber(misfit.of)}{" "}
      {misfit.rows === 1 ? "doesn’t" : "don’t"} fit: {misfit.example}
    </p>
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
  const found = Map.groupBy([...words.keys(), ...(hasTimes ? noDates.keys() : [])], comparable);
  const marks = [...found].filter(([mark]) => !listed.has(mark));
  return (
    <>
      {marks.map(([mark, [shown = mark]]) => (
        <Check
          key={mark}
          checked={aliasOf(source, mark) === ""}
          onChange={(checked) => {
            const values = withAlias(source, [mark], checked ? "" : undefined);
            onChange(withKey(source, "values", Object.keys(values).length === 0 ? undefined : values));
          }}
        >
          “{shown}” means “empty”
        </Check>
      ))}
    </>
  );
}
