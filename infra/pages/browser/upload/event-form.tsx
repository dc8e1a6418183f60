import type { Mapping, Source } from "../../../../lib/uploads/mapping/mapping.ts";
import { numberedNames } from "../../../../lib/uploads/csv/header-names.ts";
import { eventTarget, isTime } from "../../../../lib/uploads/csv/target.ts";
import { EVENT_FIELDS } from "../../../../lib/work-items/work-item-fields.ts";
import type { Answered, Checked } from "./answers.ts";
import { askingOf } from "./columns-form.tsx";
import { Choice } from "./parts.tsx";
import { TimeReading } from "./reading-fields.tsx";
import { placeOf, sourceFor, surveyed } from "./sources.ts";
import type { TableFile } from "./table-file.ts";

/** What columns can become in an event, as people call it. */
const TARGETS: readonly (readonly [target: string, label: string])[] = [
  ["external_id", "Unique ID of the event (required)"],
  ...Object.entries(EVENT_FIELDS).map(([target, { label }]) => [target, label] as const),
];
/** No column; no header begins so. */
const NONE = "\u0000none";

/** What changes a mapping, and what was said of it. */
export interface EventFormProps {
  readonly table: TableFile;
  readonly mapping: Mapping;
  readonly onChange: (mapping: Mapping) => void;
  readonly checked: Checked;
  readonly onAnswer: (answered: Answered) => void;
}

/** The columns that one field of the event is made of. */
function EventField({ target, label, ...props }: EventFormProps & { readonly target: string; readonly label: string }) {
  const { table, mapping, onChange } = props;
  const made = eventTarget(target);
  const source = mapping.event?.[target];
  const names = numberedNames(table.names).filter(Boolean);
  const options = names.map((name) => [name, name] as const);
  const set = (next: Source | undefined): void => {
    const { [target]: _, ...others } = mapping.event ?? {};
    onChange({ ...mapping, event: next === undefined ? others : { ...others, [target]: next } });
  };
  const column = source?.column ?? source?.columns?.[0];
  const chosen = names.find((name) => name.toLowerCase() === column?.toLowerCase()) ?? NONE;
  return (
    <div class="source">
      <Choice
        label={label}
        value={chosen}
        options={[[NONE, "Not in the file"], ...options]}
        onChange={(name) => set(name === NONE ? undefined : sourceFor(made, name, table))}
      />
      {target === "external_id" && column !== undefined && (
        <Choice
          label="Together with"
          value={source?.columns?.[1] ?? NONE}
          options={[[NONE, "Nothing else"], ...options.filter(([name]) => name !== column)]}
          onChange={(second) => set(second === NONE ? { column } : { columns: [column, second], join: "-" })}
        />
      )}
      {made && isTime(made) && source !== undefined && column !== undefined && (
        <TimeReading
          source={source}
          survey={surveyed(table, placeOf(table.names, column))}
          onChange={(next) => set(next)}
          {...askingOf(props, column)}
        />
      )}
    </div>
  );
}

/** Whether each row is also an event of its item, and which columns the event is made of. */
export function EventForm(props: EventFormProps) {
  const { mapping, onChange } = props;
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={mapping.event !== undefined}
          onChange={({ currentTarget }) => {
            const { event: _, ...others } = mapping;
            onChange(currentTarget.checked ? { ...others, event: {} } : others);
          }}
        />
        This file is a change log: add each row to its item as an event
      </label>
      {mapping.event !== undefined && (
        <div class="sources">
          {TARGETS.map(([target, label]) => (
            <EventField key={target} {...props} target={target} label={label} />
          ))}
        </div>
      )}
    </>
  );
}
