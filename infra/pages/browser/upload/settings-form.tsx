import type { Source } from "../../../../lib/uploads/mapping/mapping.ts";
import type { Field } from "../../../../lib/work-items/field-definition.ts";
import { WORK_ITEM_FIELDS } from "../../../../lib/work-items/work-item-fields.ts";
import { EventForm, type EventFormProps } from "./event-form.tsx";
import { Choice, saveFile, TextField } from "./parts.tsx";
import { choiceOptions } from "./reading-fields.tsx";

/** Fields that can have the same value in every row. */
const CONSTANTS = Object.entries<Field>(WORK_ITEM_FIELDS).filter(
  ([, { kind }]) => !["time", "json"].includes(kind.name),
);

/** Values of the fields that no column becomes. */
function Constants({ mapping, onChange }: Pick<EventFormProps, "mapping" | "onChange">) {
  const set = (target: string, value: string): void => {
    const { [target]: _, ...others } = mapping.fields ?? {};
    const fields: Record<string, Source> = value === "" ? others : { ...others, [target]: { value } };
    onChange({ ...mapping, fields });
  };
  const isFree = (target: string): boolean => {
    const source = mapping.fields?.[target];
    return source === undefined || source.value !== undefined;
  };
  return (
    <>
      {CONSTANTS.filter(([target]) => isFree(target)).map(([target, { label, kind }]) => {
        const props = {
          label: `${label} in every row`,
          value: mapping.fields?.[target]?.value ?? "",
          onChange: (value: string) => set(target, value),
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

function emptyOf(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}

/** What is seldom changed: values that count as empty, decimal mark, fields for all rows, events, and the mapping itself. */
export function SettingsForm({ table, mapping, onChange, ...answers }: EventFormProps) {
  const json = JSON.stringify(mapping, null, 2);
  return (
    <details class="kept">
      <summary>More settings: empty values, decimal mark, fields that aren’t in the file, change logs, JSON</summary>
      <div class="fields">
        <TextField
          label="Treat these values as empty (separate with spaces)"
          value={(mapping.empty ?? []).join(" ")}
          onChange={(text) => {
            const { empty: _, ...others } = mapping;
            const empty = emptyOf(text);
            onChange(empty.length === 0 ? others : { ...others, empty });
          }}
        />
        <Choice
          label="Decimal mark of numbers"
          value={mapping.decimal ?? "."}
          options={[
            [".", "Point (1.5)"],
            [",", "Comma (1,5)"],
          ]}
          onChange={(mark) => {
            const { decimal: _, ...others } = mapping;
            onChange(mark === "," ? { ...others, decimal: "," } : others);
          }}
        />
        <Constants mapping={mapping} onChange={onChange} />
      </div>
      <EventForm table={table} mapping={mapping} onChange={onChange} {...answers} />
      <h3>This mapping as JSON, for the API</h3>
      <pre tabIndex={0}>{json}</pre>
      <button type="button" onClick={() => saveFile("mapping.json", new Blob([json]))}>
        Save
      </button>
    </details>
  );
}
