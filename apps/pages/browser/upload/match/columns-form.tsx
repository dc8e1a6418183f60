import type { ValueKind } from "@work-items/lib/cell-value.ts";
import { ATTRIBUTE_PREFIX } from "@work-items/lib/uploads/csv/target.ts";
import type { Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import {
  canBeKept,
  type ColumnRole,
  KEPT,
  LEFT_OUT,
  rolesOf,
  targetOf,
  withRole,
  withSource,
} from "../file/column-roles.ts";
import { fieldName } from "../parts/field-names.ts";
import { Choice, OpenForm, type Options } from "../parts/parts.tsx";
import { EmptyMarks } from "./reading-fields.tsx";
import { shownStart } from "../parts/shown.ts";
import { valuesAt, withKey } from "../file/sources.ts";
import type { Match } from "../file/use-import.ts";
import type { FormProps, MatchLine } from "./match-line.ts";

const SHOWN_SAMPLES = 3;
const SAMPLE_CHARACTERS = 60;

/** Types of custom attributes, as people call them. */
const TYPE_NAMES: Readonly<Record<ValueKind, string>> = {
  text: "Text",
  number: "Number",
  boolean: "Yes or no",
  json: "JSON",
};

/** An attribute with a name of its own in the pages. */
const DESCRIPTION = `${ATTRIBUTE_PREFIX}description`;

/** What a column can become that sets no target of the strip. */
function optionsOf({ role, name }: ColumnRole): Options {
  const isListed = [KEPT, LEFT_OUT, DESCRIPTION].includes(role);
  return [
    ...(isListed ? [] : [[role, fieldName(role)] as const]),
    ...(canBeKept({ name })
      ? [[KEPT, "Custom attribute"] as const, [DESCRIPTION, fieldName(DESCRIPTION)] as const]
      : []),
    ...(name === "" && role === KEPT ? [[KEPT, "Nothing: it has no header"] as const] : []),
    [LEFT_OUT, "Leave out"],
  ];
}

/** One column: its name, some of its values, and what becomes of it. */
function ColumnFields({ match, column }: { readonly match: Match; readonly column: ColumnRole }) {
  const { table, mapping, onChange } = match;
  const { index, name, role, source = { column: name } } = column;
  const values = valuesAt(table, index, mapping.empty ?? []).slice(0, SHOWN_SAMPLES);
  const shown = name === "" ? `Column ${index + 1} (no header)` : name;
  const { as: type = "text" } = source;
  const isAttribute = name !== "" && (role === KEPT || role.startsWith(ATTRIBUTE_PREFIX));
  const read = (next: Source): void =>
    onChange(withSource(mapping, "fields", targetOf(column), { ...next, column: name }));
  return (
    <li>
      <p class="lines">
        <b>{shown}</b>{" "}
        <span class="note">
          {values.length === 0
            ? "No values in the first rows"
            : values.map((each) => shownStart(each, SAMPLE_CHARACTERS)).join(" · ")}
        </span>
      </p>
      <div class="fields">
        <Choice
          isLabelHidden
          label={`“${shown}” becomes`}
          value={role}
          options={optionsOf(column)}
          onChange={(chosen) => onChange(withRole(table.names, mapping, column, chosen))}
        />
        {isAttribute && (
          <Choice
            isLabelHidden
            label={`Type of “${name}”`}
            value={type}
            options={Object.entries(TYPE_NAMES)}
            onChange={(chosen) => read(withKey(source, "as", chosen === "text" ? undefined : (chosen as ValueKind)))}
          />
        )}
      </div>
      {isAttribute && <EmptyMarks match={match} column={column} source={source} onChange={read} hasTimes={false} />}
    </li>
  );
}

/** The columns that set no target alone. Parts of an ID can be kept or left out too. */
function othersOf({ table, mapping, states }: Match): ColumnRole[] {
  const single = states.filter(({ target, columns }) => !target.endsWith("external_id") || columns.length === 1);
  const used = new Set(single.flatMap(({ columns }) => columns.map(({ index }) => index)));
  return rolesOf(table.names, mapping).filter(({ index }) => !used.has(index));
}

/** What becomes of the columns that set no target. */
function ColumnsForm({ match, onNext }: FormProps) {
  return (
    <OpenForm title="Other columns" onNext={() => onNext()}>
      <ol class="mapping" aria-label="Other columns">
        {othersOf(match).map((column) => (
          <ColumnFields key={column.index} match={match} column={column} />
        ))}
      </ol>
    </OpenForm>
  );
}

/** The line about the columns that set no target; none without them. */
export function columnsLine(match: Match): MatchLine[] {
  const others = othersOf(match);
  const left = others.filter(({ role }) => role === LEFT_OUT).length;
  const numbers = others.filter(({ source }) => source?.as === "number").length;
  const kept = `${others.length - left} kept${numbers === 0 ? "" : ` (${numbers} as numbers)`}`;
  const text = left === 0 ? kept : `${kept}, ${left} left out`;
  const form = (props: FormProps) => <ColumnsForm {...props} />;
  return others.length === 0 ? [] : [{ name: "Other columns", text, form }];
}
