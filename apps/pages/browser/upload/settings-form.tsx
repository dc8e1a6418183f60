import { useState } from "preact/hooks";
import { numberedNames } from "../../../../lib/uploads/csv/header-names.ts";
import { eventTarget, isTime } from "../../../../lib/uploads/csv/target.ts";
import type { Source } from "../../../../lib/uploads/mapping/mapping.ts";
import type { Field } from "../../../../lib/work-items/field-definition.ts";
import { WORK_ITEM_FIELDS } from "../../../../lib/work-items/work-item-fields.ts";
import { madeId } from "./column-roles.ts";
import { choiceOptions, EVENT_NAMES } from "./field-names.ts";
import { Button, Check, Choice, saveFile, TextField } from "./parts.tsx";
import { TimeReading } from "./reading-fields.tsx";
import { columnIndex, sourceFor, withKey } from "./sources.ts";
import type { Match } from "./use-import.ts";

/** Fields that can have the same value in every row. */
const CONSTANTS = Object.entries<Field>(WORK_ITEM_FIELDS).filter(
  ([, { kind }]) => !["time", "json"].includes(kind.name),
);

/** Means no column. No header begins with NUL. */
const NONE = "\u0000none";

/** Chooses the columns of one field of the event. */
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
          onChange={(second) => set(second === NONE ? { column } : madeId(table, mapping, [column, second]))}
        />
      )}
      {made && isTime(made) && source !== undefined && column !== undefined && (
        <TimeReading
          match={match}
          column={{ name: column, index: columnIndex(table.names, column) }}
          source={source}
          onChange={set}
        />
      )}
    </div>
  );
}

function wordsIn(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}

/** Settings that seldom change: empty values, decimal mark, fields for all rows, events, and the mapping itself. */
export function SettingsForm({ match }: { readonly match: Match }) {
  const { mapping, onChange } = match;
  const json = JSON.stringify(mapping, null, 2);
  const empty = (mapping.empty ?? []).join(" ");
  const [typed, setTyped] = useState("");
  const { fields = {} } = mapping;
  // No column becomes them.
  const free = CONSTANTS.filter(([target]) => fields[target] === undefined || fields[target].value !== undefined);
  return (
    <details class="kept">
      <summary>More settings: empty values, decimal mark, fields that aren’t in the file, change logs, JSON</summary>
      <div class="fields">
        <TextField
          label="Values that mean “empty”, separated by spaces"
          value={wordsIn(typed).join(" ") === empty ? typed : empty}
          onChange={(text) => {
            setTyped(text);
            const words = wordsIn(text);
            onChange(withKey(mapping, "empty", words.length === 0 ? undefined : words));
          }}
        />
        <Choice
          label="Decimal mark of numbers"
          value={mapping.decimal ?? "."}
          options={[
            [".", "Point (1.5)"],
            [",", "Comma (1,5)"],
          ]}
          onChange={(mark) => onChange(withKey(mapping, "decimal", mark === "," ? "," : undefined))}
        />
        <Choice
          label="Empty cells"
          value={mapping.blank ?? "keep"}
          options={[
            ["keep", "Leave the field as it is"],
            ["clear", "Clear the field"],
          ]}
          onChange={(blank) => onChange(withKey(mapping, "blank", blank === "clear" ? "clear" : undefined))}
        />
        {free.map(([target, { label, kind }]) => {
          const props = {
            label: `${label} in every row`,
            value: fields[target]?.value ?? "",
            onChange: (value: string) =>
              onChange({ ...mapping, fields: withKey(fields, target, value === "" ? undefined : { value }) }),
          };
          return kind.choices === undefined ? (
            <TextField key={target} {...props} />
          ) : (
            <Choice key={target} {...props} options={[["", "Not set"], ...choiceOptions(kind.choices)]} />
          );
        })}
      </div>
      <Check
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
      <h3>This mapping as JSON, for the API</h3>
      <pre tabIndex={0}>{json}</pre>
      <Button onClick={() => saveFile("mapping.json", new Blob([json]))}>Save</Button>
    </details>
  );
}
