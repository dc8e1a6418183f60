import { useId, useMemo } from "preact/hooks";
import { VALUE_KINDS, type ValueKind } from "../../../../lib/uploads/mapping/cell-value.ts";
import type { Source } from "../../../../lib/uploads/mapping/mapping.ts";
import {
  dayOrMonthOf,
  exampleOf,
  formatsOf,
  readTime,
  TIME_FORMATS,
} from "../../../../lib/uploads/mapping/time-formats.ts";
import { Choice, TextField } from "./parts.tsx";
import { TIME_ZONE } from "./sources.ts";

/** The statuses of items. */
export const STATUSES = ["pending", "in_progress", "completed", "cancelled"] as const;
/** More values of a column are not shown: it is hardly one of statuses then. */
const SHOWN_VALUES = 30;
/** A format that is not in the list. */
const OTHER = "other";

/** How a source is changed. @param isAnswer whether a person has answered what was asked about it */
type OnSource = (source: Source, isAnswer?: boolean) => void;

interface ReadingProps {
  readonly source: Source;
  readonly values: readonly string[];
  readonly onChange: OnSource;
}

/** What each value of a status means. An unknown one is to be chosen. */
export function StatusValues({ source, values, onChange }: ReadingProps) {
  return (
    <div class="reading">
      {values.slice(0, SHOWN_VALUES).map((value) => (
        <Choice
          key={value}
          label={`“${value}” means`}
          value={source.values?.[value] ?? (STATUSES.includes(value as never) ? value : (source.otherwise ?? ""))}
          options={[["", "Choose…"], ...STATUSES.map((status) => [status, status.replace("_", " ")] as const)]}
          onChange={(status) => {
            const { [value]: _, ...others } = source.values ?? {};
            onChange({ ...source, values: status === "" ? others : { ...others, [value]: status } });
          }}
        />
      ))}
    </div>
  );
}

function shownDay(iso: string | undefined): string {
  if (iso === undefined) return "";
  return new Date(iso).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
}

/** Asks whether the day or the month comes first, by what both make of a cell. */
function DayOrMonth({
  formats,
  chosen,
  cell,
  onChoose,
}: {
  readonly formats: readonly [string, string];
  readonly chosen: string | undefined;
  readonly cell: string;
  readonly onChoose: (format: string) => void;
}) {
  const id = useId();
  return (
    <fieldset class="question">
      <legend>Which date is “{cell}”?</legend>
      {formats.map((format) => (
        <label key={format}>
          <input type="radio" name={id} checked={chosen === format} onChange={() => onChoose(format)} />
          {shownDay(readTime(cell, format, "UTC"))}
        </label>
      ))}
    </fieldset>
  );
}

/** How date-times are written. @param isAsked whether a person still has to say if day or month comes first */
export function TimeReading({ source, values, onChange, isAsked }: ReadingProps & { readonly isAsked: boolean }) {
  const fitting = useMemo(() => formatsOf(values, TIME_ZONE), [values.join("\n")]);
  const format = source.format ?? "iso";
  const example = exampleOf(values, format, TIME_ZONE) ?? values[0];
  const either = dayOrMonthOf(fitting);
  const ordered = [...fitting, ...TIME_FORMATS.filter((each) => !fitting.includes(each))];
  const shown = (each: string): string => (each === "iso" ? "ISO 8601 (2026-01-31 09:30)" : each);
  const isListed = ordered.includes(format);
  return (
    <div class="reading">
      {either && example !== undefined && (
        <DayOrMonth
          formats={either}
          chosen={isAsked || !either.includes(format) ? undefined : format}
          cell={example}
          onChoose={(chosen) => onChange({ ...source, format: chosen }, true)}
        />
      )}
      <Choice
        label={example === undefined ? "Date format" : `Date format (for example, ${example})`}
        value={isListed ? format : OTHER}
        options={[
          ...ordered.map((each) => [each, fitting.includes(each) ? `${shown(each)} · fits` : shown(each)] as const),
          [OTHER, "Another format…"],
        ]}
        onChange={(chosen) => onChange({ ...source, format: chosen === OTHER ? "yyyy-MM-dd'T'HH:mm" : chosen }, true)}
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
          label="Time zone (for dates without one)"
          value={source.time_zone ?? ""}
          list="time-zones"
          onChange={(zone) => {
            const { time_zone: _, ...others } = source;
            onChange(zone === "" ? others : { ...others, time_zone: zone });
          }}
        />
      )}
    </div>
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
