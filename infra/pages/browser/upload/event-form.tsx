import { numberedNames } from "../../../../lib/uploads/csv/header-names.ts";
import { eventTarget, isTime } from "../../../../lib/uploads/csv/target.ts";
import type { Source } from "../../../../lib/uploads/mapping/mapping.ts";
import { askingOf } from "./columns-form.tsx";
import { EVENT_NAMES } from "./field-names.ts";
import { Check, Choice } from "./parts.tsx";
import { TimeReading } from "./reading-fields.tsx";
import { placeOf, sourceFor, surveyed, withKey } from "./sources.ts";
import type { Match } from "./use-import.ts";

/** No column; no header begins so. */
const NONE = "\u0000none";

/** The columns that one field of the event is made of. */
function EventField({
  target,
  label,
  match,
}: {
  readonly target: string;
  readonly label: string;
  readonly match: Match;
}) {
  const { table, mapping, onChange } = match;
  const { event = {} } = mapping;
  const made = eventTarget(target);
  const source = event[target];
  const names = numberedNames(table.names).filter(Boolean);
  const options = names.map((name) => [name, name] as const);
  const set = (next: Source | undefined): void => onChange({ ...mapping, event: withKey(event, target, next) });
  const column = source?.column ?? source?.columns?.[0];
  const chosen = names.find((name) => name.toLowerCase() === column?.toLowerCase()) ?? NONE;
  const isId = target === "external_id";
  return (
    <div class="source">
      <Choice
        label={isId ? `${label} (required)` : label}
        value={chosen}
        options={[[NONE, "Not in the file"], ...options]}
        onChange={(name) => set(name === NONE ? undefined : sourceFor(made, name, table))}
      />
      {isId && column !== undefined && (
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
          onChange={set}
          {...askingOf(match, column)}
        />
      )}
    </div>
  );
}

/** Whether each row is also an event of its item, and which columns the event is made of. */
export function EventForm({ match }: { readonly match: Match }) {
  const { mapping, onChange } = match;
  return (
    <>
      <Check
        kind="check"
        checked={mapping.event !== undefined}
        onChange={(checked) => onChange(withKey(mapping, "event", checked ? {} : undefined))}
      >
        This file is a change log: add each row to its item as an event
      </Check>
      {mapping.event !== undefined && (
        <div class="sources">
          {Object.entries(EVENT_NAMES).map(([target, label]) => (
            <EventField key={target} target={target} label={label} match={match} />
          ))}
        </div>
      )}
    </>
  );
}
