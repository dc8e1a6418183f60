import { useMemo } from "preact/hooks";
import { BEING_COMPARED } from "@work-items/importer/checks/repeated-ids.ts";
import { choicesOf, unansweredWords } from "@work-items/importer/proposals/known-choices.ts";
import type { ProposedColumn } from "@work-items/importer/proposals/propose-mapping.ts";
import type { TimeQuestion } from "@work-items/importer/proposals/propose-time.ts";
import type { ValueKind } from "../../../../lib/cell-value.ts";
import { comparable } from "../../../../lib/uploads/csv/header-names.ts";
import { ATTRIBUTE_PREFIX, isTime, itemTarget } from "../../../../lib/uploads/csv/target.ts";
import type { Mapping, Source } from "../../../../lib/uploads/mapping/mapping.ts";
import { openQuestions, uncheckedColumns, withoutAnswers } from "./answers.ts";
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
import { FIELD_NAMES, fieldName, inTypographicQuotes } from "./field-names.ts";
import { Button, Choice, type Options, TextField } from "./parts.tsx";
import { ChoiceReading, EmptyMarks, TimeReading } from "./reading-fields.tsx";
import { countOf, shownNumber, shownStart } from "./shown.ts";
import { sourceFor, valuesAt, withKey } from "./sources.ts";
import type { SurveyedTable } from "./table-file.ts";
import type { Match } from "./use-import.ts";

const SHOWN_SAMPLES = 3;
const SAMPLE_CHARACTERS = 60;

/** Types of custom attributes, as people call them. */
const TYPE_NAMES: Readonly<Record<ValueKind, string>> = {
  text: "Text",
  number: "Number",
  boolean: "Yes or no",
  json: "JSON",
};

/** Id of a column's element. */
function idOfColumn(index: number): string {
  return `column-${index}`;
}

/** Opens a column and its group, and moves the focus there. */
export function openColumn(index: number): void {
  const column = document.querySelector<HTMLDetailsElement>(`#${idOfColumn(index)}`);
  const group = column?.parentElement?.closest("details");
  if (group) group.open = true;
  if (column) column.open = true;
  column?.querySelector("summary")?.focus();
}

/** What a column can become. @param completing names of the columns that complete items */
function optionsOf({ role, name, before, partOf }: ColumnRole, completing: readonly string[]): Options {
  const isListed = role in FIELD_NAMES || role === KEPT || role === LEFT_OUT;
  const ownName = role === COMBINED ? `Part of: ${fieldName(partOf)}` : fieldName(role);
  const own: Options = isListed ? [] : [[role, ownName]];
  const isNamed = name !== "";
  const others = before.length > 0 ? before : completing.filter((each) => comparable(each) !== comparable(name));
  const otherwise = `Completed at, when “${others.join("” and “")}” ${others.length === 1 ? "is" : "are"} empty`;
  return [
    ...own,
    ...(isNamed ? Object.entries(FIELD_NAMES) : []),
    ...(isNamed && others.length > 0 ? [[ELSE_COMPLETED, otherwise] as const] : []),
    ...(canBeKept({ name }) ? [[KEPT, "Custom attribute"] as const] : []),
    ...(!isNamed && role === KEPT ? [[KEPT, "Nothing: it has no header"] as const] : []),
    [LEFT_OUT, "Leave out"],
  ];
}

/** The first open question about the date-times of a column, if there is one. */
type Asked = TimeQuestion["kind"] | undefined;
const QUESTIONS = { date: "Day or month first?", zone: "Which time zone are these times in?" } as const;

/** How sure the proposal is, in words. Also shown while the column is closed. */
function surenessOf(
  { role, source }: ColumnRole,
  proposed: ProposedColumn | undefined,
  is: { readonly checked: boolean; readonly asked: Asked; readonly unanswered: number },
) {
  if (role === LEFT_OUT) return { text: "Left out: this column isn’t imported", class: "left-out" };
  if (is.asked !== undefined) return { text: `? ${QUESTIONS[is.asked]}`, class: "likely" };
  if (is.unanswered > 0) return { text: `? ${countOf(is.unanswered, "value")} to choose`, class: "likely" };
  if (is.checked) return { text: "✓ Checked by you", class: "certain" };
  const reason = inTypographicQuotes(proposed?.reason ?? "");
  if (proposed?.certainty === "certain") return { text: `✓ Certain, ${reason}`, class: "certain" };
  if (proposed?.reason === BEING_COMPARED) return { text: "Comparing all rows…", class: "" };
  if (proposed?.certainty === "likely") return { text: `? Likely, ${reason}`, class: "likely" };
  return { text: role === KEPT ? TYPE_NAMES[source?.as ?? "text"] : "From the earlier mapping", class: "" };
}

/** How a column's values are read; questions come first. */
function Reading({ column, match }: { readonly column: ColumnRole; readonly match: Match }) {
  const { table, mapping, checked, onAnswer } = match;
  const { role, name, index } = column;
  const source = column.source ?? { column: name };
  const onChange = (next: Source): void => onAnswer({ mapping: withReading(mapping, column, next), checked });
  const props = { match, column, source, onChange };
  if (choicesOf(role)) return <ChoiceReading {...props} />;
  if (name === "" || role === COMBINED || role === LEFT_OUT) return null;
  const target = itemTarget(role);
  const hasTimes = target !== undefined && isTime(target);
  const isAttribute = role === KEPT || role.startsWith(ATTRIBUTE_PREFIX);
  const { prefix = "", as: type = "text" } = source;
  const [first] = valuesAt(table, index, mapping.empty ?? []);
  return (
    <>
      {hasTimes && <TimeReading {...props} />}
      {role === "external_id" && (
        <TextField
          label="Prefix (optional)"
          value={prefix}
          onChange={(text) => onChange(withKey(source, "prefix", text || undefined))}
        />
      )}
      {prefix !== "" && first !== undefined && <p class="note">For example: {prefix + first}</p>}
      {isAttribute && (
        <Choice
          label={`Type of “${name}”`}
          value={type}
          options={Object.entries(TYPE_NAMES)}
          onChange={(chosen) => onChange(withKey(source, "as", chosen === "text" ? undefined : (chosen as ValueKind)))}
        />
      )}
      <EmptyMarks {...props} hasTimes={hasTimes} />
    </>
  );
}

/** How many values of a choice still need a meaning. */
function unansweredOf(table: SurveyedTable, { empty = [] }: Mapping, { role, source, index }: ColumnRole): number {
  return choicesOf(role) && source ? unansweredWords(role, source, valuesAt(table, index, empty)).length : 0;
}

/** One column: a line with its name, samples and role. It opens to change them. */
function ColumnCard({
  match,
  column,
  misfit,
  isOpen,
  asked,
  completing,
}: {
  readonly match: Match;
  readonly column: ColumnRole;
  readonly misfit: Misfit | undefined;
  readonly isOpen: boolean;
  readonly asked: Asked;
  readonly completing: readonly string[];
}) {
  const { table, mapping, proposed, checked, onAnswer } = match;
  const { index, name, role, before } = column;
  const values = valuesAt(table, index, mapping.empty ?? []);
  const found = proposed.find((each) => each.index === index);
  const shown = name === "" ? `Column ${index + 1} (no header)` : name;
  const unanswered = unansweredOf(table, mapping, column);
  const needsCheck = !checked.has(name) && found?.certainty === "likely";
  const is = { checked: checked.has(name), asked, unanswered: needsCheck ? 0 : unanswered };
  const sureness = surenessOf(column, found, is);
  const options = optionsOf(column, completing);
  const value = before.length > 0 ? ELSE_COMPLETED : role;
  const choose = (chosen: string): void => {
    const target = itemTarget(chosen === ELSE_COMPLETED ? "completed_at" : chosen);
    const next = withRole(table.names, mapping, column, chosen, sourceFor(target, name, table));
    onAnswer({ mapping: next, checked: withoutAnswers(checked, name) });
  };
  return (
    <li>
      <details class="column" id={idOfColumn(index)} open={isOpen}>
        <summary>
          <b>{shown}</b>
          <span class="samples">
            {values.length === 0 && "No values in the first rows"}
            {values.slice(0, SHOWN_SAMPLES).map((each) => (
              <span key={each}>{shownStart(each, SAMPLE_CHARACTERS)}</span>
            ))}
          </span>
          <span>{options.find(([each]) => each === value)?.[1]}</span>
          <span class={`sure ${sureness.class}`}>{sureness.text}</span>
        </summary>
        <div class="buttons">
          <Choice label={`“${shown}” becomes`} isLabelHidden value={value} options={options} onChange={choose} />
          {sureness.class === "likely" && needsCheck && asked === undefined && (
            <Button
              onClick={() => onAnswer({ mapping, checked: new Set([...checked, name]) })}
              aria-label={`Looks right: “${name}”`}
            >
              Looks right
            </Button>
          )}
        </div>
        <Reading column={column} match={match} />
        {misfit && unanswered === 0 && (
          <p class="note bad">
            <strong>{countOf(misfit.rows, "row")}</strong> of the first {shownNumber(misfit.of)}{" "}
            {misfit.rows === 1 ? "doesn’t" : "don’t"} fit: {misfit.example}
          </p>
        )}
      </details>
    </li>
  );
}

/** The groups of columns: those to check are on top and open, recognized ones are closed, others are in one closed group. */
const GROUP_NAMES = { look: "Please check", field: "Recognized columns", kept: "Other columns" } as const;
type Group = keyof typeof GROUP_NAMES;

/** The groups of columns when the file was read. A changed column stays in its group, so that it doesn't move. */
function groupsOf({ table, initial: { mapping, checked }, proposed }: Match): readonly Group[] {
  const misfits = misfitsOf(table, mapping);
  const unchecked = uncheckedColumns(table, mapping, proposed, checked)
    .filter(({ isBeingCompared }) => !isBeingCompared)
    .map(({ index }) => index);
  const groups: Group[] = table.names.map(() => "kept");
  for (const column of rolesOf(table.names, mapping)) {
    const { index, role } = column;
    if (misfits.has(index) || unchecked.includes(index) || unansweredOf(table, mapping, column) > 0)
      groups[index] = "look";
    else if (role !== KEPT && role !== LEFT_OUT) groups[index] = "field";
  }
  return groups;
}

/** All columns of the file: what they become, how they are read, and whether the rows fit. */
export function ColumnsForm({ match }: { readonly match: Match }) {
  const { table, mapping, proposed, checked, initial } = match;
  const misfits = useMemo(() => misfitsOf(table, mapping), [table, mapping]);
  const certainties = proposed.map(({ certainty, reason }) => certainty + reason).join("\n");
  const groups = useMemo(() => groupsOf(match), [table, initial, certainties]);
  // Memoized, since reading the whole file renders this a hundred times, and a file can have thousands of columns.
  return useMemo(() => {
    const roles = rolesOf(table.names, mapping);
    const asked = Map.groupBy(openQuestions(table, mapping, checked), ({ column }) => comparable(column));
    const completing = roles.filter(({ role }) => role === "completed_at").map(({ name }) => name);
    const cards = (group: Group) => {
      const own = roles.filter(({ index }) => groups[index] === group);
      if (own.length === 0) return null;
      const list = (
        <ol class="mapping" aria-label={GROUP_NAMES[group]}>
          {own.map((column) => {
            const is = { isOpen: group === "look", asked: asked.get(comparable(column.name))?.[0]?.kind };
            const rest = { match, column, misfit: misfits.get(column.index), completing };
            return <ColumnCard key={column.index} {...rest} {...is} />;
          })}
        </ol>
      );
      return group === "kept" ? (
        <details class="kept">
          <summary>{countOf(own.length, "other column")}: kept as custom attributes, or left out</summary>
          {list}
        </details>
      ) : (
        <>
          <h3>{GROUP_NAMES[group]}</h3>
          {list}
        </>
      );
    };
    return (
      <>
        {cards("look")}
        {cards("field")}
        {cards("kept")}
      </>
    );
  }, [table, mapping, checked, certainties, groups]);
}
