import type { Field } from "../../../../lib/work-items/field-definition.ts";
import { WORK_ITEM_FIELDS } from "../../../../lib/work-items/work-item-fields.ts";
import { EventForm } from "./event-form.tsx";
import { choiceOptions } from "./field-names.ts";
import { Button, Choice, saveFile, TextField } from "./parts.tsx";
import { withKey } from "./sources.ts";
import type { Match } from "./use-import.ts";

/** Fields that can have the same value in every row. */
const CONSTANTS = Object.entries<Field>(WORK_ITEM_FIELDS).filter(
  ([, { kind }]) => !["time", "json"].includes(kind.name),
);

/** Values of the fields that no column becomes. */
function Constants({ match: { mapping, onChange } }: { readonly match: Match }) {
  const { fields = {} } = mapping;
  const free = CONSTANTS.filter(([target]) => fields[target] === undefined || fields[target].value !== undefined);
  return (
    <>
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
    </>
  );
}

/** What is seldom changed: values that count as empty, decimal mark, fields for all rows, events, and the mapping itself. */
export function SettingsForm({ match }: { readonly match: Match }) {
  const { mapping, onChange } = match;
  const json = JSON.stringify(mapping, null, 2);
  return (
    <details class="kept">
      <summary>More settings: empty values, decimal mark, fields that aren’t in the file, change logs, JSON</summary>
      <div class="fields">
        <TextField
          label="Treat these values as empty (separate with spaces)"
          value={(mapping.empty ?? []).join(" ")}
          onChange={(text) => {
            const empty = text.split(/\s+/).filter(Boolean);
            onChange(withKey(mapping, "empty", empty.length === 0 ? undefined : empty));
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
        <Constants match={match} />
      </div>
      <EventForm match={match} />
      <h3>This mapping as JSON, for the API</h3>
      <pre tabIndex={0}>{json}</pre>
      <Button onClick={() => saveFile("mapping.json", new Blob([json]))}>Save</Button>
    </details>
  );
}
