import { useMemo } from "preact/hooks";
import { comparable } from "../../../../lib/uploads/csv/header-names.ts";
import { ATTRIBUTE_PREFIX, fieldOf, itemTarget } from "../../../../lib/uploads/csv/target.ts";
import type { Mapping, Source } from "../../../../lib/uploads/mapping/mapping.ts";
import type { ProposedColumn } from "@work-items/importer/proposals/propose-mapping.ts";
import type { TimeQuestion } from "@work-items/importer/proposals/propose-time.ts";
import { BEING_COMPARED } from "@work-items/importer/checks/repeated-ids.ts";
import {
  type Answered,
  type Checked,
  openQuestions,
  uncheckedColumns,
  withFormat,
  withoutAnswers,
  withZone,
} from "./answers.ts";
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
import { FIELD_NAMES, fieldName } from "./field-names.ts";
import { Choice } from "./parts.tsx";
import { ChoiceQuestions, type TimeAsking } from "./questions.tsx";
import {
  ChoiceValues,
  EmptyMarks,
  KIND_NAMES,
  KindReading,
  PrefixReading,
  TimeReading,
  unansweredValues,
} from "./reading-fields.tsx";
import { rowsWith, sourceFor, surveyed, valuesAt } from "./sources.ts";
import { countOf } from "./shown.ts";
import type { TableFile } from "./table-file.ts";

const SHOWN_SAMPLES = 3;
const SAMPLE_CHARACTERS = 60;

/** Id of what a column becomes and how it is read. */
function idOfColumn(index: number): string {
  return `column-${index}`;
}

/** Opens a column, and the group that it is in, and takes the focus there. */
export function openColumn(index: number): void {
  const column = document.querySelector<HTMLDetailsElement>(`#${idOfColumn(index)}`);
  const group = column?.parentElement?.closest("details");
  if (group) group.open = true;
  if (column) column.open = true;
  column?.querySelector("summary")?.focus();
}

function optionsOf(
  { role, name, before, partOf }: ColumnRole,
  completing: readonly string[],
): (readonly [string, string])[] {
  const isListed = role in FIELD_NAMES || role === KEPT || role === LEFT_OUT;
  const own: (readonly [string, string])[] = isListed
    ? []
    : [[role, role === COMBINED ? `Part of: ${fieldName(partOf)}` : fieldName(role)]];
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

/** What a person is told about how sure the proposal is; a line when the column is folded. */
function surenessOf(
  { role, source }: ColumnRole,
  proposed: ProposedColumn | undefined,
  {
    isChecked,
    isAsked,
    unanswered,
  }: { readonly isChecked: boolean; readonly isAsked: boolean; readonly unanswered: number },
) {
  if (role === LEFT_OUT) return { text: "Left out: this column isn’t imported", class: "left-out" };
  if (isAsked) return { text: `? Please answer${proposed ? `: ${proposed.reason}` : ""}`, class: "likely" };
  if (unanswered > 0) return { text: `? ${countOf(unanswered, "value")} to choose`, class: "likely" };
  if (isChecked) return { text: "✓ Checked by you", class: "certain" };
  if (proposed?.certainty === "certain") return { text: `✓ Certain, ${proposed.reason}`, class: "certain" };
  if (proposed?.reason === BEING_COMPARED) return { text: "Comparing all rows…", class: "" };
  if (proposed?.certainty === "likely") return { text: `? Likely, ${proposed.reason}`, class: "likely" };
  return { text: role === KEPT ? KIND_NAMES[source?.as ?? "text"] : "From the earlier mapping", class: "" };
}

/** How the cells of a column are read: first what is asked. */
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
  if (kind?.choices) {
    const props = { choices: kind.choices, source, values, onChange };
    return (
      <>
        <ChoiceQuestions {...props} rowsOf={(value) => rowsWith(table, index, value)} />
        <ChoiceValues {...props} />
      </>
    );
  }
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

/** What is asked about a column, and what becomes of an answer. @param questions those that are open */
export function askingOf(
  { table, mapping, checked, onAnswer }: Omit<ColumnsFormProps, "proposed">,
  column: string,
  questions: readonly TimeQuestion[] = openQuestions(table, mapping, checked),
): TimeAsking {
  const own = questions.filter((each) => comparable(each.column) === comparable(column));
  return {
    asked: new Set(own.map(({ kind }) => kind)),
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

/** One column: a line with its name, samples and what it becomes, which opens to change it. */
function ColumnCard({
  column,
  misfit,
  isOpen,
  completing,
  questions,
  ...props
}: ColumnsFormProps & {
  readonly column: ColumnRole;
  readonly misfit: Misfit | undefined;
  readonly isOpen: boolean;
  /** Names of the columns that complete items. */
  readonly completing: readonly string[];
  readonly questions: readonly TimeQuestion[];
}) {
  const { table, mapping, proposed, checked, onAnswer } = props;
  const empty = mapping.empty ?? [];
  const { index, name, role, before } = column;
  const values = valuesAt(table, index, empty);
  const found = proposed.find((each) => each.index === index);
  const shown = name === "" ? `Column ${index + 1} (no header)` : name;
  const asking = askingOf(props, name, questions);
  const unanswered = unansweredOf(table, mapping, column);
  const isAnswered = checked.has(name) || found?.certainty !== "likely";
  const sureness = surenessOf(column, found, {
    isChecked: checked.has(name),
    isAsked: asking.asked.size > 0,
    unanswered: isAnswered ? unanswered : 0,
  });
  const options = optionsOf(column, completing);
  const value = before.length > 0 ? ELSE_COMPLETED : role;
  const isAsked = sureness.class === "likely" && !isAnswered && asking.asked.size === 0;
  return (
    <li>
      <details class="column" id={idOfColumn(index)} open={isOpen}>
        <summary>
          <b>{shown}</b>
          <span class="samples">
            {values.length === 0 && "No values in the first rows"}
            {values.slice(0, SHOWN_SAMPLES).map((each) => (
              <span key={each}>{shownSample(each)}</span>
            ))}
          </span>
          <span>{options.find(([each]) => each === value)?.[1]}</span>
          <span class={`sure ${sureness.class}`}>{sureness.text}</span>
        </summary>
        <div class="column-role">
          <Choice
            label={`“${shown}” becomes`}
            isLabelHidden
            value={value}
            options={options}
            onChange={(chosen) => {
              const target = itemTarget(chosen === ELSE_COMPLETED ? "completed_at" : chosen);
              const next = withRole(table.names, mapping, column, chosen, sourceFor(target, name, table));
              onAnswer({ mapping: next, checked: withoutAnswers(checked, name) });
            }}
          />
          {isAsked && (
            <button
              type="button"
              onClick={() => onAnswer({ mapping, checked: new Set([...checked, name]) })}
              aria-label={`Looks right: “${name}”`}
            >
              Looks right
            </button>
          )}
        </div>
        <div class="column-reading">
          <Reading
            column={column}
            table={table}
            empty={empty}
            asking={asking}
            onChange={(source) => onAnswer({ mapping: withReading(mapping, column, source), checked })}
          />
          {misfit && unanswered === 0 && <MisfitNote misfit={misfit} rows={table.rows.length} />}
        </div>
      </details>
    </li>
  );
}

/** The number of values of a choice whose meaning a person has yet to say. */
function unansweredOf(table: TableFile, { empty = [] }: Mapping, { role, source, index }: ColumnRole): number {
  const target = itemTarget(role);
  const choices = target && fieldOf(target)?.kind.choices;
  return choices && source ? unansweredValues(choices, source, valuesAt(table, index, empty)).length : 0;
}

/** Where a column stands: what needs a look is on top and open, what is certain is folded, what is kept is one group. */
type Group = "look" | "field" | "kept";

/**
 * The groups of a file's columns when it was read. A column stays where it is when it is changed: what a person looks at
 * doesn't move.
 */
function groupsOf({ table, mapping, proposed, checked }: Omit<ColumnsFormProps, "onAnswer">): readonly Group[] {
  const misfits = misfitsOf(table, mapping);
  const unchecked = uncheckedColumns(table, mapping, proposed, checked).filter(
    ({ isBeingCompared }) => !isBeingCompared,
  );
  const groups: Group[] = table.names.map(() => "kept");
  for (const column of rolesOf(table.names, mapping)) {
    const { index, role } = column;
    const isOpen = unansweredOf(table, mapping, column) > 0 || misfits.has(index);
    const isLooked = isOpen || unchecked.some((each) => each.index === index);
    groups[index] = isLooked ? "look" : role === KEPT || role === LEFT_OUT ? "kept" : "field";
  }
  return groups;
}

/** All columns of the file, what they become, how they are read, and whether the rows fit. @param begun what was proposed */
export function ColumnsForm({ begun, ...props }: ColumnsFormProps & { readonly begun: Answered }) {
  const { table, mapping, proposed } = props;
  const misfits = useMemo(() => misfitsOf(table, mapping), [table, mapping]);
  const certainties = proposed.map(({ certainty, reason }) => certainty + reason).join("\n");
  const groups = useMemo(() => groupsOf({ table, proposed, ...begun }), [table, begun, certainties]);
  // Reading the whole file renders this a hundred times, and a file can have thousands of columns.
  return useMemo(() => {
    const roles = rolesOf(table.names, mapping);
    const questions = openQuestions(table, mapping, props.checked);
    const completing = roles.flatMap(({ role, name }) => (role === "completed_at" ? [name] : []));
    const cards = (group: Group) => {
      const own = roles.filter(({ index }) => groups[index] === group);
      return own.length === 0 ? undefined : (
        <ol class="mapping" aria-label={GROUP_NAMES[group]}>
          {own.map((column) => {
            const rest = { misfit: misfits.get(column.index), isOpen: group === "look", completing, questions };
            return <ColumnCard key={column.index} {...props} column={column} {...rest} />;
          })}
        </ol>
      );
    };
    const [look, field, kept] = [cards("look"), cards("field"), cards("kept")];
    return (
      <>
        {look && <h3>{GROUP_NAMES.look}</h3>}
        {look}
        {field && <h3>{GROUP_NAMES.field}</h3>}
        {field}
        {kept && (
          <details class="kept">
            <summary>
              {countOf(groups.filter((group) => group === "kept").length, "other column")}: kept as custom attributes,
              or left out
            </summary>
            {kept}
          </details>
        )}
      </>
    );
  }, [table, mapping, props.checked, certainties, groups]);
}

const GROUP_NAMES: Readonly<Record<Group, string>> = {
  look: "Please check",
  field: "Recognized columns",
  kept: "Other columns",
};
