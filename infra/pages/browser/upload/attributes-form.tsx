import type { Mapping } from "../../../../lib/uploads/mapping/mapping.ts";
import { type AttributeColumn, attributeColumns, withKind } from "./attributes.ts";
import { Choice } from "./parts.tsx";
import type { TableFile } from "./table-file.ts";

const KINDS: readonly (readonly [AttributeColumn["kind"], string])[] = [
  ["text", "text"],
  ["number", "a number"],
  ["boolean", "yes or no"],
  ["json", "JSON"],
];
const LEFT_OUT = ["left out", "left out"] as const;

/** What becomes of the columns that are no fields, and how their numbers are written. */
export const AttributesForm = ({
  table,
  mapping,
  onChange,
}: {
  readonly table: TableFile;
  readonly mapping: Mapping;
  readonly onChange: (mapping: Mapping) => void;
}) => {
  const columns = attributeColumns(table.names, mapping);
  if (columns.length === 0) return null;
  const options = mapping.others === "custom_attributes" ? KINDS : [LEFT_OUT, ...KINDS];
  return (
    <details>
      <summary>What the {columns.length} other columns hold</summary>
      <div class="fields">
        {columns.map((each) => (
          <Choice
            key={each.target}
            label={each.column}
            value={each.kind}
            options={options}
            onChange={(kind) => onChange(withKind(mapping, each, kind as AttributeColumn["kind"]))}
          />
        ))}
        <Choice
          label="Decimal mark of numbers"
          value={mapping.decimal ?? "."}
          options={[
            [".", "point (1.5)"],
            [",", "comma (1,5)"],
          ]}
          onChange={(mark) => {
            const { decimal: _, ...others } = mapping;
            onChange(mark === "," ? { ...others, decimal: "," } : others);
          }}
        />
      </div>
    </details>
  );
};
