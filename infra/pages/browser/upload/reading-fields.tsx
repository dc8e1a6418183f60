import { useId, useMemo } from "preact/hooks";
import { comparable } from "../../../../lib/uploads/csv/header-names.ts";
import { VALUE_KINDS, type ValueKind } from "../../../../lib/cell-value.ts";
import type { Source } from "../../../../lib/uploads/mapping/mapping.ts";
import { shownReading } from "@work-items/importer/proposals/propose-time.ts";
import type { SurveyedColumn } from "@work-items/importer/proposals/survey.ts";
import { TIME_FORMATS, timeReadingsOf } from "@work-items/importer/proposals/time-formats.ts";
import { Choice, TextField } from "./parts.tsx";
import { TIME_ZONE } from "./sources.ts";

/** More values of a column are not shown: it is hardly a choice then. */
const SHOWN_VALUES = 30;
/** A format that is not in the list. */
const OTHER = "other";

interface ReadingProps {
  readonly source: Source;
  readonly values: readonly string[];
  readonly onChange: (source: Source) => void;
}

/** The aliases of a source in which a text has another one, however it is spelled there; none if it is undefined. */
function withAlias({ values = {} }: Source, text: string, alias: string | undefined): Source["values"] {
  const others = Object.entries(values).filter(([each]) => comparable(each) !== comparable(text));
  return Object.fromEntries(alias === undefined ? others : [...others, [text, alias]]);
}

/** What a text becomes by its alias; undefined if it has none. */
function aliasOf({ values = {} }: Source, text: string): string | undefined {
  return Object.entries(values).find(([each]) => comparable(each) === comparable(text))?.[1];
}

/** Words of a choice, as options. */
export function choiceOptions(choices: readonly string[]): (readonly [string, string])[] {
  return choices.map((choice) => [choice, choice.replaceAll("_", " ")]);
}

/** Which choice each value means. An unknown one is to be chosen. */
export function ChoiceValues({
  choices,
  source,
  values,
  onChange,
}: ReadingProps & { readonly choices: readonly string[] }) {
  return (
    <div class="reading">
      {values.slice(0, SHOWN_VALUES).map((value) => (
        <Choice
          key={value}
          label={`“${value}” means`}
          value={aliasOf(source, value) ?? (choices.includes(value) ? value : (source.otherwise ?? ""))}
          options={[["", "Choose…"], ...choiceOptions(choices)]}
          onChange={(choice) =>
            onChange({ ...source, values: withAlias(source, value, choice === "" ? undefined : choice) })
          }
        />
      ))}
    </div>
  );
}

/** A question with a few answers, of which none is chosen before a person chooses. */
function Question({
  text,
  answers,
  chosen,
  onChoose,
}: {
  readonly text: string;
  /** Values and how they are shown. */
  readonly answers: readonly (readonly [string, string])[];
  readonly chosen: string | undefined;
  readonly onChoose: (answer: string) => void;
}) {
  const id = useId();
  return (
    <fieldset class="question">
      <legend>{text}</legend>
      {answers.map(([answer, shown]) => (
        <label key={answer}>
          <input type="radio" name={id} checked={chosen === answer} onChange={() => onChoose(answer)} />
          {shown}
        </label>
      ))}
    </fieldset>
  );
}

function shownFormat(format: string): string {
  return format === "iso" ? "ISO 8601 (2026-01-31 09:30)" : format;
}

/** What is asked about a column of date-times, and what handles the answers. */
export interface TimeAsking {
  /** Whether a person still has to say how dates are read, or in which time zone they are. */
  readonly asked: ReadonlySet<"date" | "zone">;
  readonly onFormat: (column: string, format: string) => void;
  readonly onZone: (zone: string) => void;
}

/** How date-times are written. */
export function TimeReading({
  source,
  survey,
  asked,
  onFormat,
  onZone,
  onChange,
}: Omit<ReadingProps, "values"> & TimeAsking & { readonly survey: SurveyedColumn }) {
  const readings = useMemo(() => timeReadingsOf(survey.shapes), [survey]);
  const { column = "", format = "iso", time_zone: zone } = source;
  const formats: readonly string[] = readings?.formats ?? [];
  const example = readings?.example ?? survey.shapes[0]?.examples[0];
  const ordered = [...formats, ...TIME_FORMATS.filter((each) => !formats.includes(each))];
  const isListed = ordered.includes(format);
  const isLocal = readings?.needsZone === true;
  return (
    <div class="reading">
      {formats.length > 1 && example !== undefined && (
        <Question
          text={`Which date is “${example}”?`}
          answers={formats.map((each) => [each, shownReading(example, each)])}
          chosen={asked.has("date") ? undefined : format}
          onChoose={(chosen) => onFormat(column, chosen)}
        />
      )}
      <Choice
        label={example === undefined ? "Date format" : `Date format (for example, ${example})`}
        value={isListed ? format : OTHER}
        options={[
          ...ordered.map((each) => [each, shownFormat(each) + (formats.includes(each) ? " · fits" : "")] as const),
          [OTHER, "Another format…"],
        ]}
        onChange={(chosen) => onFormat(column, chosen === OTHER ? "yyyy-MM-dd'T'HH:mm" : chosen)}
      />
      {!isListed && (
        <TextField
          label="Unicode date pattern"
          value={format}
          onChange={(chosen) => onChange({ ...source, format: chosen })}
        />
      )}
      {isLocal && (
        <Question
          text="Which time zone are these times in?"
          answers={[...new Set([TIME_ZONE, "UTC"])].map((each) => [
            each,
            each === TIME_ZONE ? `${each} (this computer’s)` : each,
          ])}
          chosen={asked.has("zone") ? undefined : zone}
          onChoose={onZone}
        />
      )}
      {!format.startsWith("unix") && (
        <TextField
          label="Time zone (for dates without one)"
          value={isLocal && asked.has("zone") ? "" : (zone ?? "")}
          list="time-zones"
          onChange={onZone}
        />
      )}
    </div>
  );
}

/** Words that may mean that there is no value, each to be chosen. */
export function EmptyMarks({
  source,
  survey,
  empty,
  onChange,
}: Omit<ReadingProps, "values"> & { readonly survey: SurveyedColumn; readonly empty: readonly string[] }) {
  const listed = new Set(empty.map(comparable));
  const marks = [...Map.groupBy(survey.marks.keys(), comparable)].filter(([mark]) => !listed.has(mark));
  return (
    <>
      {marks.map(([mark, [shown = mark]]) => (
        <label key={mark} class="check">
          <input
            type="checkbox"
            checked={aliasOf(source, mark) === ""}
            onChange={({ currentTarget }) => {
              const { values: _, ...others } = source;
              const values = withAlias(source, mark, currentTarget.checked ? "" : undefined);
              onChange(Object.keys(values ?? {}).length === 0 ? others : { ...others, values });
            }}
          />
          “{shown}” means there is no value
        </label>
      ))}
    </>
  );
}

const KIND_NAMES: Readonly<Record<ValueKind, string>> = {
  text: "Text",
  number: "Number",
  boolean: "Yes or no",
  json: "JSON",
};

/** The type of a custom attribute. */
export function KindReading({ source, column, onChange }: Omit<ReadingProps, "values"> & { readonly column: string }) {
  return (
    <div class="reading">
      <Choice
        label={`Type of “${column}”`}
        value={source.as ?? "text"}
        options={VALUE_KINDS.map((kind) => [kind, KIND_NAMES[kind]])}
        onChange={(kind) => {
          const { as: _, ...others } = source;
          onChange(kind === "text" ? others : { ...others, as: kind as ValueKind });
        }}
      />
    </div>
  );
}

/** A text that is put before each id, so that ids of two systems stay apart. */
export function PrefixReading({ source, values, onChange }: ReadingProps) {
  const { prefix = "" } = source;
  return (
    <div class="reading">
      <TextField
        label="Prefix (optional)"
        value={prefix}
        onChange={(text) => {
          const { prefix: _, ...others } = source;
          onChange(text === "" ? others : { ...others, prefix: text });
        }}
      />
      {prefix !== "" && values[0] !== undefined && <p class="note">For example: {prefix + values[0]}</p>}
    </div>
  );
}
