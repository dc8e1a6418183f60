import type { Mapping, Source } from "../../../../lib/uploads/mapping/mapping.ts";
import { numberedNames } from "../../../../lib/uploads/csv/header-names.ts";
import { Choice } from "./parts.tsx";
import { TimeReading } from "./reading-fields.tsx";
import { sourceFor, valuesIn } from "./sources.ts";
import type { TableFile } from "./table-file.ts";

/** The fields of an event, as people call them. */
const EVENT_FIELDS: readonly (readonly [target: string, label: string])[] = [
  ["external_id", "Unique ID of the event (required)"],
  ["occurred_at", "Happened at"],
  ["content", "What happened"],
  ["actor_name", "Actor’s name"],
  ["actor_email", "Actor’s email"],
  ["actor_external_id", "Actor’s ID"],
];
/** No column; no header begins so. */
const NONE = "\u0000none";

interface EventFormProps {
  readonly table: TableFile;
  readonly mapping: Mapping;
  readonly onChange: (mapping: Mapping) => void;
}

/** The columns that one field of the event is made of. */
function EventField({
  table,
  mapping,
  onChange,
  target,
  label,
}: EventFormProps & { readonly target: string; readonly label: string }) {
  const source = mapping.event?.[target];
  const names = numberedNames(table.names).filter(Boolean);
  const options = names.map((name) => [name, name] as const);
  const set = (next: Source | undefined): void => {
    const { [target]: _, ...others } = mapping.event ?? {};
    onChange({ ...mapping, event: next === undefined ? others : { ...others, [target]: next } });
  };
  const column = source?.column ?? source?.columns?.[0];
  const chosen = names.find((name) => name.toLowerCase() === column?.toLowerCase()) ?? NONE;
  const values = column === undefined ? [] : valuesIn(table, column, mapping.empty ?? []);
  return (
    <div class="source">
      <Choice
        label={label}
        value={chosen}
        options={[[NONE, "Not in the file"], ...options]}
        onChange={(name) =>
          set(name === NONE ? undefined : sourceFor(target, name, valuesIn(table, name, mapping.empty ?? [])))
        }
      />
      {target === "external_id" && column !== undefined && (
        <Choice
          label="Together with"
          value={source?.columns?.[1] ?? NONE}
          options={[[NONE, "Nothing else"], ...options.filter(([name]) => name !== column)]}
          onChange={(second) => set(second === NONE ? { column } : { columns: [column, second], join: "-" })}
        />
      )}
      {target === "occurred_at" && source !== undefined && (
        <TimeReading source={source} values={values} onChange={(next) => set(next)} isAsked={false} />
      )}
    </div>
  );
}

/** Whether each row is also an event of its item, and which columns the event is made of. */
export function EventForm({ table, mapping, onChange }: EventFormProps) {
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
          {EVENT_FIELDS.map(([target, label]) => (
            <EventField
              key={target}
              table={table}
              mapping={mapping}
              onChange={onChange}
              target={target}
              label={label}
            />
          ))}
        </div>
      )}
    </>
  );
}
