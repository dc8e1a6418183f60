import type { Mapping, Source } from "../../../../lib/uploads/mapping/mapping.ts";
import type { Field } from "../../../../lib/work-items/field-definition.ts";
import { WORK_ITEM_FIELDS } from "../../../../lib/work-items/work-item-fields.ts";
import type { ProposedColumn } from "@work-items/importer/proposals/propose-mapping.ts";
import { encodingName, UTF_8 } from "@work-items/importer/files/encodings.ts";
import type { Answered, Checked } from "./answers.ts";
import { ColumnsForm } from "./columns-form.tsx";
import { EventForm } from "./event-form.tsx";
import { Choice, TextField } from "./parts.tsx";
import { choiceOptions } from "./reading-fields.tsx";
import type { TableFile } from "./table-file.ts";

interface FormProps {
  readonly table: TableFile;
  readonly mapping: Mapping;
  readonly onChange: (mapping: Mapping) => void;
}

/** Fields that can have the same value in every row. */
const CONSTANTS = Object.entries<Field>(WORK_ITEM_FIELDS).filter(
  ([, { kind }]) => !["time", "json"].includes(kind.name),
);

/** Values of the fields that no column becomes. */
function Constants({ mapping, onChange }: Omit<FormProps, "table">) {
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
    <details>
      <summary>Fields that aren’t in the file</summary>
      <div class="fields">
        {CONSTANTS.filter(([target]) => isFree(target)).map(
          ([
            target,
            {
              label,
              kind: { choices },
            },
          ]) => {
            const props = {
              label: `${label} in every row`,
              value: mapping.fields?.[target]?.value ?? "",
              onChange: (value: string) => set(target, value),
            };
            return choices === undefined ? (
              <TextField key={target} {...props} />
            ) : (
              <Choice key={target} {...props} options={[["", "Not set"], ...choiceOptions(choices)]} />
            );
          },
        )}
      </div>
    </details>
  );
}

function emptyOf(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}

/** What each column of the file becomes, to be changed where the proposal is wrong. */
export function MappingForm({
  table,
  mapping,
  onChange,
  ...columns
}: FormProps & {
  readonly proposed: readonly ProposedColumn[];
  readonly checked: Checked;
  readonly onAnswer: (answered: Answered) => void;
}) {
  const encoding = table.text?.format.encoding;
  return (
    <>
      <datalist id="time-zones">
        {["UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <ColumnsForm table={table} mapping={mapping} {...columns} />
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
      </div>
      <Constants mapping={mapping} onChange={onChange} />
      <EventForm table={table} mapping={mapping} onChange={onChange} {...columns} />
      {encoding !== undefined && encoding !== UTF_8 && (
        <p class="note">We’ll convert the file from {encodingName(encoding)} to UTF-8.</p>
      )}
    </>
  );
}
