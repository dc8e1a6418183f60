import { useMemo } from "preact/hooks";
import { comparable } from "../../../../lib/uploads/csv/header-names.ts";
import { ATTRIBUTE_PREFIX } from "../../../../lib/uploads/csv/target.ts";
import type { Mapping, Source } from "../../../../lib/uploads/mapping/mapping.ts";
import { type ProposedColumn, UNCLEAR_DAY } from "../../../../lib/uploads/mapping/propose-mapping.ts";
import { BEING_COMPARED } from "../../../table-files/repeated-ids.ts";
import { type Misfit, misfitsOf } from "./check-rows.ts";
import {
  canBeKept,
  type ColumnRole,
  COMBINED,
  KEPT,
  LEFT_OUT,
  rolesOf,
  withReading,
  withRole,
} from "./column-roles.ts";
import { Choice } from "./parts.tsx";
import { KindReading, PrefixReading, StatusValues, TimeReading } from "./reading-fields.tsx";
import { sourceFor, valuesAt } from "./sources.ts";
import { countOf } from "./shown.ts";
import type { TableFile } from "./table-file.ts";

/** The fields of an item, as people call them. */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  external_id: "Unique ID",
  status: "Status",
  completed_at: "Completed at",
  type: "Type",
  agent_name: "Agent’s name",
  agent_email: "Agent’s email",
  agent_external_id: "Agent’s ID",
  "custom_attributes.short_description": "Short description",
  "custom_attributes.description": "Description",
  custom_attributes: "Custom attributes (a JSON object)",
};
const SHOWN_SAMPLES = 3;
const SAMPLE_CHARACTERS = 60;

/** Id of the list of what a column becomes. */
export function idOfColumn(index: number): string {
  return `column-${index}`;
}

function optionsOf({ role, name }: ColumnRole): (readonly [string, string])[] {
  const isListed = role in FIELD_NAMES || role === KEPT || role === LEFT_OUT;
  const own: (readonly [string, string])[] = isListed
    ? []
    : [
        [
          role,
          role === COMBINED ? "Part of a combined field" : `Custom attribute “${role.replace(ATTRIBUTE_PREFIX, "")}”`,
        ],
      ];
  const isNamed = name !== "";
  return [
    ...own,
    ...(isNamed ? Object.entries(FIELD_NAMES) : []),
    ...(canBeKept({ name }) ? [[KEPT, "Custom attribute"] as const] : []),
    ...(!isNamed && role === KEPT ? [[KEPT, "Nothing: it has no header"] as const] : []),
    [LEFT_OUT, "Leave out"],
  ];
}

/** Whether a person still has to look at what was proposed for a column. */
export function isUnchecked({ column, certainty }: ProposedColumn, checked: ReadonlySet<string>): boolean {
  return certainty === "likely" && !checked.has(column);
}

/** What a person is told about how sure the proposal is. */
function Sureness({
  column,
  proposed,
  isChecked,
  onCheck,
}: {
  readonly column: ColumnRole;
  readonly proposed: ProposedColumn | undefined;
  readonly isChecked: boolean;
  readonly onCheck: () => void;
}) {
  const { role } = column;
  if (role === LEFT_OUT) return <p class="sure left-out">Left out: this column isn’t imported.</p>;
  if (isChecked) return <p class="sure">✓ Checked by you</p>;
  if (proposed?.certainty === "certain") return <p class="sure certain">✓ Certain, {proposed.reason}</p>;
  if (proposed?.reason === BEING_COMPARED) return <p class="sure">Comparing all rows…</p>;
  if (proposed?.certainty === "likely") {
    return (
      <p class="sure likely">
        <span>
          <strong>? Likely</strong>, {proposed.reason}. Please check.
        </span>
        {proposed.reason !== UNCLEAR_DAY && (
          <button type="button" onClick={onCheck} aria-label={`Looks right: “${column.name}”`}>
            Looks right
          </button>
        )}
      </p>
    );
  }
  if (role === KEPT) return <p class="sure">Kept under its own name</p>;
  return <p class="sure">From the earlier mapping</p>;
}

/** How the cells of a column are read. */
function Reading({
  column,
  values,
  isAsked,
  onChange,
}: {
  readonly column: ColumnRole;
  readonly values: readonly string[];
  readonly isAsked: boolean;
  readonly onChange: (source: Source, isAnswer?: boolean) => void;
}) {
  const { role, name } = column;
  const source = column.source ?? { column: name };
  if (role === "status") return <StatusValues source={source} values={values} onChange={onChange} />;
  if (role === "completed_at") {
    return <TimeReading source={source} values={values} onChange={onChange} isAsked={isAsked} />;
  }
  if (role === "external_id") return <PrefixReading source={source} values={values} onChange={onChange} />;
  if ((role === KEPT && name !== "") || role.startsWith(ATTRIBUTE_PREFIX)) {
    return <KindReading source={source} column={name} onChange={onChange} />;
  }
  return null;
}

function shownSample(value: string): string {
  return value.length > SAMPLE_CHARACTERS ? `${value.slice(0, SAMPLE_CHARACTERS)}…` : value;
}

interface ColumnsFormProps {
  readonly table: TableFile;
  readonly mapping: Mapping;
  readonly proposed: readonly ProposedColumn[];
  /** Names of the columns that a person has looked at. */
  readonly checked: ReadonlySet<string>;
  readonly onChange: (mapping: Mapping) => void;
  readonly onCheck: (column: string) => void;
}

function MisfitNote({ misfit, rows }: { readonly misfit: Misfit; readonly rows: number }) {
  return (
    <p class="misfit">
      <strong>{countOf(misfit.rows, "row")}</strong> of the first {rows} {misfit.rows === 1 ? "doesn’t" : "don’t"} fit:{" "}
      {misfit.example}
    </p>
  );
}

/** A row for each column of the file: its name, samples, what it becomes, how it is read, and whether the rows fit. */
export function ColumnsForm({ table, mapping, proposed, checked, onChange, onCheck }: ColumnsFormProps) {
  const misfits = useMemo(() => misfitsOf(table, mapping), [table, mapping]);
  const empty = mapping.empty ?? [];
  return (
    <ol class="mapping" aria-label="Columns of the file">
      {rolesOf(table.names, mapping).map((column) => {
        const { index, name, role } = column;
        const values = valuesAt(table.rows, index, empty);
        const found = proposed.find((each) => name !== "" && comparable(each.column) === comparable(name));
        const isChecked = checked.has(name);
        const shown = name === "" ? `Column ${index + 1} (no header)` : name;
        const misfit = misfits.get(index);
        const read = (source: Source, isAnswer = false): void => {
          onChange(withReading(mapping, column, source));
          if (isAnswer) onCheck(name);
        };
        return (
          <li key={index}>
            <div class="column-name">
              <h3>{shown}</h3>
              <p class="samples">
                {values.length === 0 && "No values in the first rows"}
                {values.slice(0, SHOWN_SAMPLES).map((value) => (
                  <span key={value}>{shownSample(value)}</span>
                ))}
              </p>
            </div>
            <div class="column-role" id={idOfColumn(index)}>
              <Choice
                label={`“${shown}” becomes`}
                isLabelHidden
                value={role}
                options={optionsOf(column)}
                onChange={(chosen) => {
                  onChange(withRole(table.names, mapping, column, chosen, sourceFor(chosen, name, values)));
                  onCheck(name);
                }}
              />
              <Sureness column={column} proposed={found} isChecked={isChecked} onCheck={() => onCheck(name)} />
            </div>
            <div class="column-reading">
              <Reading
                column={column}
                values={values}
                isAsked={!isChecked && found?.reason === UNCLEAR_DAY}
                onChange={read}
              />
              {misfit && <MisfitNote misfit={misfit} rows={table.rows.length} />}
            </div>
          </li>
        );
      })}
    </ol>
  );
}
