import { useMemo } from "preact/hooks";
import { comparable } from "../../../../lib/uploads/csv/header-names.ts";
import { ATTRIBUTE_PREFIX, fieldOf, itemTarget } from "../../../../lib/uploads/csv/target.ts";
import type { Mapping, Source } from "../../../../lib/uploads/mapping/mapping.ts";
import { WORK_ITEM_FIELDS } from "../../../../lib/work-items/work-item-fields.ts";
import type { ProposedColumn } from "@work-items/importer/proposals/propose-mapping.ts";
import { BEING_COMPARED } from "@work-items/importer/checks/repeated-ids.ts";
import { type Answered, type Checked, openQuestions, withFormat, withoutAnswers, withZone } from "./answers.ts";
import { type Misfit, misfitsOf } from "./check-rows.ts";
import {
  canBeKept,
  type ColumnRole,
  COMBINED,
  ELSE_COMPLETED,
  KEPT,
  LEFT_OUT,
  rolesOf,
  withReading,
  withRole,
} from "./column-roles.ts";
import { Choice } from "./parts.tsx";
import {
  ChoiceValues,
  EmptyMarks,
  KindReading,
  PrefixReading,
  type TimeAsking,
  TimeReading,
} from "./reading-fields.tsx";
import { sourceFor, surveyed, valuesAt } from "./sources.ts";
import { countOf } from "./shown.ts";
import type { TableFile } from "./table-file.ts";

/** What a column can become, as people call it. */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  external_id: "Unique ID",
  ...Object.fromEntries(Object.entries(WORK_ITEM_FIELDS).map(([target, { label }]) => [target, label])),
  [`${ATTRIBUTE_PREFIX}short_description`]: "Short description",
  [`${ATTRIBUTE_PREFIX}description`]: "Description",
};
const SHOWN_SAMPLES = 3;
const SAMPLE_CHARACTERS = 60;

/** Id of the list of what a column becomes. */
export function idOfColumn(index: number): string {
  return `column-${index}`;
}

function optionsOf({ role, name, before }: ColumnRole, completing: readonly string[]): (readonly [string, string])[] {
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
  const others = before.length > 0 ? before : completing.filter((each) => comparable(each) !== comparable(name));
  const otherwise = `Completed at, if “${others.join("” and “")}” ${others.length === 1 ? "is" : "are"} empty`;
  return [
    ...own,
    ...(isNamed ? Object.entries(FIELD_NAMES) : []),
    ...(isNamed && others.length > 0 ? [[ELSE_COMPLETED, otherwise] as const] : []),
    ...(canBeKept({ name }) ? [[KEPT, "Custom attribute"] as const] : []),
    ...(!isNamed && role === KEPT ? [[KEPT, "Nothing: it has no header"] as const] : []),
    [LEFT_OUT, "Leave out"],
  ];
}

/** What a person is told about how sure the proposal is. */
function Sureness({
  column,
  proposed,
  isChecked,
  isAsked,
  onCheck,
}: {
  readonly column: ColumnRole;
  readonly proposed: ProposedColumn | undefined;
  readonly isChecked: boolean;
  /** Whether a question is open. */
  readonly isAsked: boolean;
  readonly onCheck: () => void;
}) {
  const { role } = column;
  if (role === LEFT_OUT) return <p class="sure left-out">Left out: this column isn’t imported.</p>;
  if (isAsked) {
    return (
      <p class="sure likely">
        <span>
          <strong>? Please answer</strong> what its dates mean.
        </span>
      </p>
    );
  }
  if (isChecked) return <p class="sure">✓ Checked by you</p>;
  if (proposed?.certainty === "certain") return <p class="sure certain">✓ Certain, {proposed.reason}</p>;
  if (proposed?.reason === BEING_COMPARED) return <p class="sure">Comparing all rows…</p>;
  if (proposed?.certainty === "likely") {
    return (
      <p class="sure likely">
        <span>
          <strong>? Likely</strong>, {proposed.reason}. Please check.
        </span>
        <button type="button" onClick={onCheck} aria-label={`Looks right: “${column.name}”`}>
          Looks right
        </button>
      </p>
    );
  }
  if (role === KEPT) return <p class="sure">Kept under its own name</p>;
  return <p class="sure">From the earlier mapping</p>;
}

/** How the cells of a column are read. */
function Reading({
  column,
  table,
  empty,
  asking,
  onChange,
}: {
  readonly column: ColumnRole;
  readonly table: TableFile;
  readonly empty: readonly string[];
  readonly asking: TimeAsking;
  readonly onChange: (source: Source) => void;
}) {
  const { role, name, index } = column;
  const source = column.source ?? { column: name };
  const survey = surveyed(table, index);
  const values = valuesAt(table, index, empty);
  const target = itemTarget(role);
  const kind = target && fieldOf(target)?.kind;
  if (kind?.choices) return <ChoiceValues choices={kind.choices} source={source} values={values} onChange={onChange} />;
  if (name === "" || role === COMBINED || role === LEFT_OUT) return null;
  const isAttribute = role === KEPT || role.startsWith(ATTRIBUTE_PREFIX);
  return (
    <>
      {kind?.name === "time" && <TimeReading source={source} survey={survey} onChange={onChange} {...asking} />}
      {role === "external_id" && <PrefixReading source={source} values={values} onChange={onChange} />}
      {isAttribute && <KindReading source={source} column={name} onChange={onChange} />}
      <EmptyMarks source={source} survey={survey} empty={empty} onChange={onChange} />
    </>
  );
}

function shownSample(value: string): string {
  return value.length > SAMPLE_CHARACTERS ? `${value.slice(0, SAMPLE_CHARACTERS)}…` : value;
}

interface ColumnsFormProps {
  readonly table: TableFile;
  readonly mapping: Mapping;
  readonly proposed: readonly ProposedColumn[];
  readonly checked: Checked;
  readonly onAnswer: (answered: Answered) => void;
}

/** What is asked about a column, and what becomes of an answer. */
export function askingOf(
  { table, mapping, checked, onAnswer }: Omit<ColumnsFormProps, "proposed">,
  column: string,
): TimeAsking {
  const open = openQuestions(table, mapping, checked).filter((each) => comparable(each.column) === comparable(column));
  return {
    asked: new Set(open.map(({ kind }) => kind)),
    onFormat: (name, format) => onAnswer(withFormat(table, mapping, checked, { column: name, format })),
    onZone: (zone) => onAnswer(withZone(table, mapping, checked, zone)),
  };
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
export function ColumnsForm(props: ColumnsFormProps) {
  const { table, mapping, proposed, checked, onAnswer } = props;
  const misfits = useMemo(() => misfitsOf(table, mapping), [table, mapping]);
  const empty = mapping.empty ?? [];
  const roles = rolesOf(table.names, mapping);
  const completing = roles.flatMap(({ role, name }) => (role === "completed_at" ? [name] : []));
  return (
    <ol class="mapping" aria-label="Columns of the file">
      {roles.map((column) => {
        const { index, name, role, before } = column;
        const values = valuesAt(table, index, empty);
        const found = proposed.find((each) => name !== "" && comparable(each.column) === comparable(name));
        const shown = name === "" ? `Column ${index + 1} (no header)` : name;
        const misfit = misfits.get(index);
        const asking = askingOf(props, name);
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
                value={before.length > 0 ? ELSE_COMPLETED : role}
                options={optionsOf(column, completing)}
                onChange={(chosen) => {
                  const target = chosen === ELSE_COMPLETED ? "completed_at" : chosen;
                  const next = withRole(
                    table.names,
                    mapping,
                    column,
                    chosen,
                    sourceFor(itemTarget(target), name, table),
                  );
                  onAnswer({ mapping: next, checked: withoutAnswers(checked, name) });
                }}
              />
              <Sureness
                column={column}
                proposed={found}
                isChecked={checked.has(name)}
                isAsked={asking.asked.size > 0}
                onCheck={() => onAnswer({ mapping, checked: new Set([...checked, name]) })}
              />
            </div>
            <div class="column-reading">
              <Reading
                column={column}
                table={table}
                empty={empty}
                asking={asking}
                onChange={(source) => onAnswer({ mapping: withReading(mapping, column, source), checked })}
              />
              {misfit && <MisfitNote misfit={misfit} rows={table.rows.length} />}
            </div>
          </li>
        );
      })}
    </ol>
  );
}
