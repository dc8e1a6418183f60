import { fieldOf, itemTarget } from "../../../../lib/uploads/csv/target.ts";
import type { Mapping, Source } from "../../../../lib/uploads/mapping/mapping.ts";
import type { Checked } from "./answers.ts";
import { openQuestions } from "./answers.ts";
import { KEPT, LEFT_OUT, rolesOf } from "./column-roles.ts";
import { FIELD_NAMES, fieldName, shownChoice } from "./field-names.ts";
import { countOf, shownNumber } from "./shown.ts";
import { placeOf, valuesAt } from "./sources.ts";
import type { TableFile } from "./table-file.ts";
import { unansweredValues } from "./reading-fields.tsx";

/** One thing that a mapping makes of a file. */
interface SummaryPart {
  readonly text: string;
  /** Place of the column that is opened to change it; undefined if there is none. */
  readonly index: number | undefined;
}

/** How the summary calls fields; those of one person are one. */
const TITLES: Readonly<Record<string, string>> = { external_id: "ID", completed_at: "completed" };
const AGENT = "agent_";

function columnsIn({ column, columns = [], first_of: first = [] }: Source): string {
  if (first.length > 0) return first.map(columnsIn).join(", else ");
  return column ?? columns.join(" + ");
}

function firstColumn({ column, columns, first_of: first }: Source): string | undefined {
  return column ?? columns?.[0] ?? (first?.[0] && firstColumn(first[0]));
}

/** What a person has yet to say of a field, and how many values it has. */
function noteOn(table: TableFile, mapping: Mapping, checked: Checked, target: string, source: Source): string {
  const column = firstColumn(source);
  const index = column === undefined ? -1 : placeOf(table.names, column);
  const field = itemTarget(target);
  const choices = field && fieldOf(field)?.kind.choices;
  if (choices && index >= 0) {
    const values = valuesAt(table, index, mapping.empty ?? []);
    const open = unansweredValues(choices, source, values).length;
    return ` (${countOf(values.length, "value")}${open > 0 ? `, ${shownNumber(open)} to choose` : ""})`;
  }
  if (target !== "completed_at") return "";
  const zone = (source.first_of?.[0] ?? source).time_zone;
  const kinds = new Set(openQuestions(table, mapping, checked).map(({ kind }) => kind));
  const notes = [
    ...(kinds.has("date") ? ["day or month first?"] : []),
    ...(zone === undefined ? [] : [kinds.has("zone") ? "which time zone?" : zone]),
  ];
  return notes.length > 0 ? ` (${notes.join(" ")})` : "";
}

/** What a mapping makes of a file, each part with the column that opens it. */
export function summaryOf(table: TableFile, mapping: Mapping, checked: Checked): readonly SummaryPart[] {
  const { fields = {}, event } = mapping;
  const roles = rolesOf(table.names, mapping);
  const count = (wanted: string): number => roles.filter(({ role }) => role === wanted).length;
  const partOf = (target: string): SummaryPart[] => {
    const source = fields[target];
    if (source === undefined) return [];
    const name = TITLES[target] ?? fieldName(target).toLowerCase();
    const column = firstColumn(source);
    if (column === undefined) return [{ text: `${name} “${shownChoice(source.value ?? "")}”`, index: undefined }];
    if (target.startsWith(AGENT)) return [];
    const text = `${name} from ${columnsIn(source)}${noteOn(table, mapping, checked, target, source)}`;
    return [{ text, index: placeOf(table.names, column) }];
  };
  const agents = Object.entries(fields).filter(([target, source]) => target.startsWith(AGENT) && firstColumn(source));
  const people = [...new Set(agents.map(([, source]) => columnsIn(source)))].join(" and ");
  const targets = ["external_id", "status", "completed_at", ...Object.keys(FIELD_NAMES)];
  const first = (wanted: string): number | undefined => roles.find(({ role }) => role === wanted)?.index;
  return [
    ...(fields["external_id"] === undefined ? [{ text: "no ID yet", index: undefined }] : []),
    ...[...new Set(targets)].flatMap(partOf),
    ...agents.slice(0, 1).map(([, source]) => {
      return { text: `agent from ${people}`, index: placeOf(table.names, firstColumn(source) ?? "") };
    }),
    ...(event === undefined ? [] : [{ text: "each row is an event of its item", index: undefined }]),
    ...(count(KEPT) === 0 ? [] : [{ text: `${countOf(count(KEPT), "column")} kept unchanged`, index: first(KEPT) }]),
    ...(count(LEFT_OUT) === 0
      ? []
      : [{ text: `${countOf(count(LEFT_OUT), "column")} left out`, index: first(LEFT_OUT) }]),
  ];
}

/** The summary as links to what it says. */
export function MatchSummary({
  parts,
  onOpen,
}: {
  readonly parts: readonly SummaryPart[];
  readonly onOpen: (index: number) => void;
}) {
  return (
    <ul class="summary" aria-label="Summary">
      {parts.map(({ text, index }) => (
        <li key={text}>
          {index === undefined ? (
            text
          ) : (
            <button type="button" class="plain" onClick={() => onOpen(index)}>
              {text}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
