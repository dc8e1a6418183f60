import { useMemo } from "preact/hooks";
import type { Mapping, Source } from "../../../../lib/uploads/mapping/mapping.ts";
import { TIME_FORMATS } from "../../../../lib/uploads/mapping/propose-mapping.ts";
import { AttributesForm } from "./attributes-form.tsx";
import { Choice, TextField } from "./parts.tsx";
import { ENCODINGS, isOffered } from "./read-text.ts";
import { formatsOf, statusSource, timeSource, valuesIn } from "./sources.ts";
import type { TableFile } from "./table-file.ts";
import { UTF_8 } from "../../../table-files/text-file.ts";

const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const STATUSES = ["pending", "in_progress", "completed", "cancelled"] as const;
/** More values of a column are not shown: it is hardly one of statuses then. */
const SHOWN_VALUES = 30;

type Group = "fields" | "event";
type Kind = "text" | "status" | "time";

interface Row {
  readonly target: string;
  readonly label: string;
  readonly kind: Kind;
}

const ITEM_ROWS: readonly Row[] = [
  { target: "external_id", label: "What identifies the item", kind: "text" },
  { target: "type", label: "Type", kind: "text" },
  { target: "status", label: "Status", kind: "status" },
  { target: "completed_at", label: "Completed at", kind: "time" },
  { target: "agent_name", label: "Agent's name", kind: "text" },
  { target: "agent_email", label: "Agent's e-mail", kind: "text" },
  { target: "agent_external_id", label: "Agent's id", kind: "text" },
];
const EVENT_ROWS: readonly Row[] = [
  { target: "external_id", label: "What identifies the event", kind: "text" },
  { target: "occurred_at", label: "Happened at", kind: "time" },
  { target: "content", label: "What happened", kind: "text" },
  { target: "actor_name", label: "Actor's name", kind: "text" },
  { target: "actor_email", label: "Actor's e-mail", kind: "text" },
  { target: "actor_external_id", label: "Actor's id", kind: "text" },
];

/** Values of the list of columns that are no columns; no header begins so. */
const NONE = "\u0000none";
const SAME = "\u0000same";

interface FormProps {
  readonly table: TableFile;
  readonly mapping: Mapping;
  readonly onChange: (mapping: Mapping) => void;
}

/** The same mapping with another source for a target, or with none. */
const withSource = (mapping: Mapping, group: Group, target: string, source: Source | undefined): Mapping => {
  const { [target]: _, ...others } = mapping[group] ?? {};
  return { ...mapping, [group]: source === undefined ? others : { ...others, [target]: source } };
};

const StatusValues = ({
  source,
  values,
  onChange,
}: {
  readonly source: Source;
  readonly values: readonly string[];
  readonly onChange: (source: Source) => void;
}) => (
  <div class="fields values">
    {values.slice(0, SHOWN_VALUES).map((value) => (
      <Choice
        key={value}
        label={`“${value}” is`}
        value={source.values?.[value] ?? (STATUSES.includes(value as never) ? value : (source.otherwise ?? ""))}
        options={[["", "choose…"], ...STATUSES.map((status) => [status, status.replace("_", " ")] as const)]}
        onChange={(status) => {
          const { [value]: _, ...others } = source.values ?? {};
          onChange({ ...source, values: status === "" ? others : { ...others, [value]: status } });
        }}
      />
    ))}
  </div>
);

const TimeFormat = ({
  source,
  values,
  onChange,
}: {
  readonly source: Source;
  readonly values: readonly string[];
  readonly onChange: (source: Source) => void;
}) => {
  const fitting = useMemo(() => formatsOf(values, TIME_ZONE), [values.join("\n")]);
  const isAmbiguous =
    fitting.some((each) => each.startsWith("dd/MM")) && fitting.some((each) => each.startsWith("MM/dd"));
  const [example] = values;
  const ordered = [...fitting, ...TIME_FORMATS.filter((format) => !fitting.includes(format))];
  const format = source.format ?? "iso";
  const shown = (each: string): string => (each === "iso" ? "ISO 8601 (2026-01-31 09:30)" : each);
  return (
    <div class="fields values">
      <Choice
        label={example === undefined ? "Pattern" : `Pattern of “${example}”`}
        value={ordered.includes(format) ? format : SAME}
        options={[
          ...ordered.map((each) => [each, fitting.includes(each) ? `${shown(each)} · fits` : shown(each)] as const),
          [SAME, "another pattern"],
        ]}
        onChange={(chosen) => onChange({ ...source, format: chosen === SAME ? "yyyy-MM-dd'T'HH:mm" : chosen })}
      />
      {isAmbiguous && <p class="note">Day or month first? The first rows do not tell: please look.</p>}
      {!ordered.includes(format) && (
        <TextField
          label="Unicode date fields"
          value={format}
          onChange={(chosen) => onChange({ ...source, format: chosen })}
        />
      )}
      {!format.startsWith("unix") && (
        <TextField
          label="Time zone, where the cell has none"
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
};

/** The source of one field: a column, two joined columns for the id of an event, or the same text for every row. */
const SourceRow = ({
  table,
  mapping,
  onChange,
  group,
  row,
}: FormProps & { readonly group: Group; readonly row: Row }) => {
  const { target, label, kind } = row;
  const source = mapping[group]?.[target];
  const columns = table.names.map((name) => name.trim()).filter(Boolean);
  const options = columns.map((name) => [name, name] as const);
  const set = (next: Source | undefined): void => onChange(withSource(mapping, group, target, next));
  const valuesOf = (column: string) => valuesIn(table, column, mapping.empty ?? []);
  const choose = (chosen: string): void => {
    if (chosen === NONE) set(undefined);
    else if (chosen === SAME) set({ value: kind === "status" ? "completed" : "text" });
    else if (kind === "time") set(timeSource(chosen, valuesOf(chosen), TIME_ZONE));
    else if (kind === "status") set(statusSource(chosen, valuesOf(chosen)));
    else set({ column: chosen });
  };
  const column = source?.column ?? source?.columns?.[0];
  const isEventId = group === "event" && target === "external_id";
  return (
    <div class="source">
      <Choice
        label={target === "external_id" ? `${label} (required)` : label}
        value={
          source?.value !== undefined
            ? SAME
            : (columns.find((name) => name.toLowerCase() === column?.toLowerCase()) ?? NONE)
        }
        options={[
          [NONE, "not in the file"],
          ...(target === "external_id" || kind === "time" ? [] : [[SAME, "the same for every row…"] as const]),
          ...options,
        ]}
        onChange={choose}
      />
      {isEventId && column !== undefined && (
        <Choice
          label="together with"
          value={source?.columns?.[1] ?? NONE}
          options={[[NONE, "nothing else"], ...options.filter(([name]) => name !== column)]}
          onChange={(second) => set(second === NONE ? { column } : { columns: [column, second], join: "-" })}
        />
      )}
      {source?.value !== undefined &&
        (kind === "status" ? (
          <Choice
            label={`${label} of every row`}
            value={source.value}
            options={STATUSES.map((status) => [status, status.replace("_", " ")])}
            onChange={(value) => set({ value })}
          />
        ) : (
          <TextField label={`${label} of every row`} value={source.value} onChange={(value) => set({ value })} />
        ))}
      {kind === "status" && source !== undefined && column !== undefined && (
        <StatusValues source={source} values={valuesOf(column)} onChange={set} />
      )}
      {kind === "time" && source !== undefined && column !== undefined && (
        <TimeFormat source={source} values={valuesOf(column)} onChange={set} />
      )}
    </div>
  );
};

const emptyOf = (text: string): readonly string[] =>
  text
    .split(" ")
    .map((each) => each.trim())
    .filter(Boolean);

/** What each field is made of, to be changed where the proposal is wrong. */
export const MappingForm = ({ table, mapping, onChange }: FormProps) => {
  const encoding = table.text?.format.encoding;
  return (
    <>
      <datalist id="time-zones">
        {["UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <div class="sources">
        {ITEM_ROWS.map((row) => (
          <SourceRow key={row.target} table={table} mapping={mapping} onChange={onChange} group="fields" row={row} />
        ))}
      </div>
      <div class="fields">
        <Choice
          label="All other columns"
          value={mapping.others ?? "refuse"}
          options={[
            ["custom_attributes", "are kept as custom attributes"],
            ["ignore", "are left out"],
          ]}
          onChange={(others) => onChange({ ...mapping, others: others as "custom_attributes" | "ignore" })}
        />
        <TextField
          label="Cells that mean “nothing”, with spaces between"
          value={(mapping.empty ?? []).join(" ")}
          onChange={(text) => {
            const { empty: _, ...others } = mapping;
            const empty = emptyOf(text);
            onChange(empty.length === 0 ? others : { ...others, empty: [...empty] });
          }}
        />
      </div>
      <AttributesForm table={table} mapping={mapping} onChange={onChange} />
      <label class="check">
        <input
          type="checkbox"
          checked={mapping.event !== undefined}
          onChange={({ currentTarget }) => {
            const { event: _, ...others } = mapping;
            onChange(currentTarget.checked ? { ...others, event: {} } : others);
          }}
        />
        Each row is also an event of its item, as in a log of changes
      </label>
      {mapping.event !== undefined && (
        <div class="sources">
          {EVENT_ROWS.map((row) => (
            <SourceRow key={row.target} table={table} mapping={mapping} onChange={onChange} group="event" row={row} />
          ))}
        </div>
      )}
      {encoding !== undefined && encoding !== UTF_8 && isOffered(encoding) && (
        <p class="note">The file is sent as UTF-8 in place of {ENCODINGS[encoding]}.</p>
      )}
    </>
  );
};
