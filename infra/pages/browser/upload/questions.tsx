import { useId, useMemo } from "preact/hooks";
import type { Source } from "../../../../lib/uploads/mapping/mapping.ts";
import { statusesIn } from "@work-items/importer/proposals/known-statuses.ts";
import { shownReading } from "@work-items/importer/proposals/propose-time.ts";
import type { SurveyedColumn } from "@work-items/importer/proposals/survey.ts";
import { readTime, timeReadingsOf } from "@work-items/importer/proposals/time-formats.ts";
import { shownChoice } from "./field-names.ts";
import { countOf } from "./shown.ts";
import { TIME_ZONE, aliasOf, withAlias } from "./sources.ts";

/** More unknown values are not asked for one by one: the column is hardly a choice then. */
const ASKED_VALUES = 30;
/** The zones of which one is likely. */
export const OFFERED_ZONES: readonly string[] = [...new Set([TIME_ZONE, "UTC"])];
/** What a value is answered with that is left out. */
const NO_VALUE = "";

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

/** The values of a choice whose meaning only a person can say. */
export function unknownIn(choices: readonly string[], values: readonly string[]): string[] {
  const known = statusesIn(values);
  return values.filter((value) => known(value) === undefined && !choices.includes(value));
}

/** Asks which choice each unknown value means. */
export function ChoiceQuestions({
  choices,
  source,
  values,
  rowsOf,
  onChange,
}: {
  readonly choices: readonly string[];
  readonly source: Source;
  readonly values: readonly string[];
  /** Number of rows with a value; undefined if it isn't known. */
  readonly rowsOf: (value: string) => number | undefined;
  readonly onChange: (source: Source) => void;
}) {
  const unknown = unknownIn(choices, values);
  return (
    <>
      {unknown.slice(0, ASKED_VALUES).map((value) => {
        const rows = rowsOf(value);
        return (
          <Question
            key={value}
            text={`“${value}” means${rows === undefined ? "" : ` (${countOf(rows, "row")})`}`}
            answers={[...choices.map((choice) => [choice, shownChoice(choice)] as const), [NO_VALUE, "No status"]]}
            chosen={aliasOf(source, value) ?? source.otherwise}
            onChoose={(choice) => onChange({ ...source, values: withAlias(source, value, choice) })}
          />
        );
      })}
    </>
  );
}

/** What is asked about a column of date-times, and what handles the answers. */
export interface TimeAsking {
  /** Whether a person still has to say how dates are read, or in which time zone they are. */
  readonly asked: ReadonlySet<"date" | "zone">;
  readonly onFormat: (column: string, format: string) => void;
  readonly onZone: (zone: string) => void;
}

/** A zone with what it makes of a date-time, such as "Europe/Berlin: 12:22 PM UTC". */
function shownZone(zone: string, example: string, format: string): string {
  const time = readTime(example, format, zone);
  const own = zone === TIME_ZONE ? " (this computer’s)" : "";
  if (time === undefined) return zone + own;
  const shown = new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
  return `${zone}${own}: ${shown} UTC`;
}

/** Asks what only a person knows of date-times: which number is the day, and in which time zone they are. */
export function TimeQuestions({
  source,
  survey,
  asked,
  onFormat,
  onZone,
}: TimeAsking & { readonly source: Source; readonly survey: SurveyedColumn }) {
  const readings = useMemo(() => timeReadingsOf(survey.shapes), [survey]);
  if (readings === undefined) return null;
  const { column = "", format = "iso", time_zone: zone = "" } = source;
  const { formats, example, needsZone } = readings;
  // What a zone makes of a date isn't known before the date is.
  const isDateAsked = formats.length > 1 && asked.has("date");
  return (
    <>
      {formats.length > 1 && (
        <Question
          text={`Which date is “${example}”?`}
          answers={formats.map((each) => [each, shownReading(example, each)])}
          chosen={isDateAsked ? undefined : format}
          onChoose={(chosen) => onFormat(column, chosen)}
        />
      )}
      {needsZone && !isDateAsked && (
        <Question
          text={`Which time zone are these times in? “${example}” is then:`}
          answers={OFFERED_ZONES.map((each) => [each, shownZone(each, example, format)])}
          chosen={asked.has("zone") ? undefined : zone}
          onChoose={onZone}
        />
      )}
    </>
  );
}
