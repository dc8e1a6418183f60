import { choicesOf, unknownIn } from "@work-items/importer/proposals/known-choices.ts";
import { shownReading } from "@work-items/importer/proposals/propose-time.ts";
import { readTime, TIME_FORMATS, timeReadingsOf } from "@work-items/importer/proposals/time-formats.ts";
import { useState } from "preact/hooks";
import { comparable } from "../../../../lib/uploads/csv/header-names.ts";
import type { Source } from "../../../../lib/uploads/mapping/mapping.ts";
import { openQuestions, withFormat, withZone } from "./answers.ts";
import type { ColumnRole } from "./column-roles.ts";
import { choiceOptions } from "./field-names.ts";
import { Check, Choice, Question, TextField } from "./parts.tsx";
import { countOf, shownTime } from "./shown.ts";
import { aliasOf, rowsWith, surveyed, TIME_ZONE, valuesAt, withAlias, withKey } from "./sources.ts";
import type { Match } from "./use-import.ts";

/** Further values aren't asked for or shown. A column with so many is hardly a choice. */
const SHOWN_VALUES = 30;
/** A format that isn't in the list. */
const OTHER = "other";

/** A column whose source a person changes. */
interface ReadingProps {
  readonly match: Match;
  readonly column: Pick<ColumnRole, "index" | "name">;
  readonly source: Source;
  readonly onChange: (source: Source) => void;
}

/** Asks what each unknown value means, and shows what each known one means. */
export function ChoiceReading({
  match: { table, mapping },
  column: { role, index },
  source,
  onChange,
}: ReadingProps & { readonly column: ColumnRole }) {
  const choices = choicesOf(role) ?? [];
  const values = valuesAt(table, index, mapping.empty ?? []);
  const unknown = unknownIn(role, values);
  const known = values.filter((value) => !unknown.includes(value));
  const set = (value: string, choice: string | undefined): void =>
    onChange({ ...source, values: withAlias(source, value, choice) });
  return (
    <>
      {unknown.slice(0, SHOWN_VALUES).map((value) => {
        const rows = rowsWith(table, index, value);
        return (
          <Question
            key={value}
            text={`“${value}” means${rows === undefined ? "" : ` (${countOf(rows, "row")})`}`}
            answers={[...choiceOptions(choices), ["", "No value"]]}
            chosen={aliasOf(source, value) ?? source.otherwise}
            onChoose={(choice) => set(value, choice)}
          />
        );
      })}
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
                onChange={(choice) => set(value, choice || undefined)}
              />
            ))}
          </div>
        </details>
      )}
    </>
  );
}

/** A time zone with a date-time read in it, such as "Europe/Berlin: 4 Mar 2024, 20:00 UTC". */
function shownZone(zone: string, example: string, format: string): string {
  const time = readTime(example, format, zone);
  const own = zone === TIME_ZONE ? " (this computer’s)" : "";
  if (time === undefined) return zone + own;
  return `${zone}${own}: ${shownTime(time, "UTC")} UTC`;
}

/** How date-times are read: asks which number is the day and which time zone they are in, if the file doesn't say. */
export function TimeReading({ match, column: { index, name }, source, onChange }: ReadingProps) {
  const { table, mapping, checked, onAnswer } = match;
  const { format = "iso", time_zone: zone = "" } = source;
  const { shapes } = surveyed(table, index);
  const open = openQuestions(table, mapping, checked).filter(({ column }) => comparable(column) === comparable(name));
  const asked = new Set(open.map(({ kind }) => kind));
  const onFormat = (chosen: string): void => onAnswer(withFormat(table, match, name, chosen));
  const onZone = (chosen: string): void => onAnswer(withZone(table, match, name, chosen));
  /** The likely time zones: that of the mapping or the last file, and this computer's. */
  const [offered] = useState(() => [...new Set([zone || TIME_ZONE, TIME_ZONE, "UTC"])]);
  const readings = timeReadingsOf(shapes);
  const formats: readonly string[] = readings?.formats ?? [];
  const { example = shapes[0]?.examples[0], needsZone = false } = readings ?? {};
  const ordered = [...formats, ...TIME_FORMATS.filter((each) => !formats.includes(each))];
  const shownFormat = (each: string): string =>
    (each === "iso" ? "ISO 8601 (2026-01-31 09:30)" : each) + (formats.includes(each) ? " · fits" : "");
  const isListed = ordered.includes(format);
  const selected = isListed ? format : OTHER;
  // A date can't be converted before its format is known.
  const isDateAsked = formats.length > 1 && asked.has("date");
  const isZoneShown = !(needsZone && asked.has("zone")) && !offered.includes(zone);
  return (
    <>
      {formats.length > 1 && example !== undefined && (
        <Question
          text={`Which date is “${example}”?`}
          answers={formats.map((each) => [each, shownReading(example, each)])}
          chosen={isDateAsked ? undefined : format}
          onChoose={onFormat}
        />
      )}
      {needsZone && example !== undefined && !isDateAsked && (
        <Question
          text={`Which time zone are these times in? “${example}” is then:`}
          answers={offered.map((each) => [each, shownZone(each, example, format)])}
          chosen={asked.has("zone") ? undefined : zone}
          onChoose={onZone}
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
          onChange={(chosen) => onFormat(chosen === OTHER ? "yyyy-MM-dd'T'HH:mm" : chosen)}
        />
        {!isListed && (
          <TextField
            label="Unicode date pattern"
            value={format}
            onChange={(chosen) => onChange({ ...source, format: chosen })}
          />
        )}
        {!format.startsWith("unix") && (
          <TextField label="Another time zone" value={isZoneShown ? zone : ""} list="time-zones" onChange={onZone} />
        )}
      </div>
    </>
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
            const values = withAlias(source, mark, checked ? "" : undefined);
            onChange(withKey(source, "values", Object.keys(values).length === 0 ? undefined : values));
          }}
        >
          “{shown}” means “no value”
        </Check>
      ))}
    </>
  );
}
