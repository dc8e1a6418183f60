import { useMemo } from "preact/hooks";
import { comparable } from "../../../../lib/uploads/csv/header-names.ts";
import { VALUE_KINDS, type ValueKind } from "../../../../lib/cell-value.ts";
import type { Source } from "../../../../lib/uploads/mapping/mapping.ts";
import type { SurveyedColumn } from "@work-items/importer/proposals/survey.ts";
import { TIME_FORMATS, timeReadingsOf } from "@work-items/importer/proposals/time-formats.ts";
import { shownChoice } from "./field-names.ts";
import { Choice, TextField } from "./parts.tsx";
import { unknownIn, OFFERED_ZONES, type TimeAsking, TimeQuestions } from "./questions.tsx";
import { countOf } from "./shown.ts";
import { aliasOf, withAlias } from "./sources.ts";

/** More values of a column are not shown: it is hardly a choice then. */
const SHOWN_VALUES = 30;
/** A format that is not in the list. */
const OTHER = "other";

interface ReadingProps {
  readonly source: Source;
  readonly values: readonly string[];
  readonly onChange: (source: Source) => void;
}

/** Words of a choice, as options. */
export function choiceOptions(choices: readonly string[]): (readonly [string, string])[] {
  return choices.map((choice) => [choice, shownChoice(choice)]);
}

/** The values of a choice whose meaning a person has yet to say. */
export function unansweredValues(choices: readonly string[], source: Source, values: readonly string[]): string[] {
  return unknownIn(choices, values).filter((value) => (aliasOf(source, value) ?? source.otherwise) === undefined);
}

/** Which choice each known value means. */
export function ChoiceValues({
  choices,
  source,
  values,
  onChange,
}: ReadingProps & { readonly choices: readonly string[] }) {
  const unknown = new Set(unknownIn(choices, values));
  const known = values.filter((value) => !unknown.has(value));
  if (known.length === 0) return null;
  return (
    <details>
      <summary>{countOf(known.length, "recognized value")}</summary>
      <div class="reading">
        {known.slice(0, SHOWN_VALUES).map((value) => (
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
    </details>
  );
}

function shownFormat(format: string): string {
  return format === "iso" ? "ISO 8601 (2026-01-31 09:30)" : format;
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
  const { column = "", format = "iso", time_zone: zone = "" } = source;
  const formats: readonly string[] = readings?.formats ?? [];
  const example = readings?.example ?? survey.shapes[0]?.examples[0];
  const ordered = [...formats, ...TIME_FORMATS.filter((each) => !formats.includes(each))];
  const isListed = ordered.includes(format);
  const isAsked = formats.length > 1 && asked.has("date");
  return (
    <>
      <TimeQuestions source={source} survey={survey} asked={asked} onFormat={onFormat} onZone={onZone} />
      <div class="reading">
        <Choice
          label={example === undefined ? "Date format" : `Date format (for example, ${example})`}
          value={isAsked ? "" : isListed ? format : OTHER}
          options={[
            ...(isAsked ? [["", "Choose…"] as const] : []),
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
        {!format.startsWith("unix") && (
          <TextField
            label="Another time zone"
            value={(readings?.needsZone && asked.has("zone")) || OFFERED_ZONES.includes(zone) ? "" : zone}
            list="time-zones"
            onChange={onZone}
          />
        )}
      </div>
    </>
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

/** Types of custom attributes, as people call them. */
export const KIND_NAMES: Readonly<Record<ValueKind, string>> = {
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
