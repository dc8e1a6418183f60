import { choicesOf, unansweredWords } from "@work-items/importer/proposals/known-choices.ts";
import type { Source } from "../../../../lib/uploads/mapping/mapping.ts";
import { openQuestions } from "./answers.ts";
import { KEPT, LEFT_OUT, rolesOf } from "./column-roles.ts";
import { FIELD_NAMES, fieldName, shownChoice } from "./field-names.ts";
import { countOf, shownNumber } from "./shown.ts";
import { columnIndex, valuesAt } from "./sources.ts";
import type { Match } from "./use-import.ts";

/** One thing that a mapping makes of a file. */
interface SummaryPart {
  readonly text: string;
  /** Index of the column that is opened to change it; undefined if there is none. */
  readonly index: number | undefined;
}

/** The summary's names of fields. */
const TITLES: Readonly<Record<string, string>> = { external_id: "ID", completed_at: "Completed" };
const AGENT = "agent_";
/** If an ID is made of more columns, they are only counted. */
const NAMED_COLUMNS = 4;

function columnsIn({ column, columns = [], first_of: first = [] }: Source): string {
  if (first.length > 0) return first.map(columnsIn).join(", else ");
  return column ?? (columns.length > NAMED_COLUMNS ? countOf(columns.length, "column") : columns.join(" + "));
}

function firstColumn({ column, columns, first_of: first }: Source): string | undefined {
  return column ?? columns?.[0] ?? (first?.[0] && firstColumn(first[0]));
}

/** Open questions about a field's column, and how many values it has. */
function noteOn({ table, mapping, checked }: Match, target: string, source: Source, index: number): string {
  if (choicesOf(target) && index >= 0) {
    const values = valuesAt(table, index, mapping.empty ?? []);
    const open = unansweredWords(target, source, values).length;
    return ` (${countOf(values.length, "value")}${open > 0 ? `, ${shownNumber(open)} to choose` : ""})`;
  }
  if (target !== "completed_at") return "";
  const zone = (source.first_of?.[0] ?? source).time_zone;
  const kinds = new Set(openQuestions(table, mapping, checked).map(({ kind }) => kind));
  const date = kinds.has("date") ? "day or month first?" : "";
  const notes = [date, zone && kinds.has("zone") ? "which time zone?" : zone].filter(Boolean);
  return notes.length > 0 ? ` (${notes.join(" ")})` : "";
}

/** What a mapping makes of a file, each part with the column that opens it. */
export function summaryOf(match: Match): readonly SummaryPart[] {
  const { table, mapping } = match;
  const { fields = {}, event } = mapping;
  const roles = rolesOf(table.names, mapping);
  const partOf = (target: string): SummaryPart[] => {
    const source = fields[target];
    const column = source && firstColumn(source);
    const isAgent = target.startsWith(AGENT);
    if (source === undefined || (isAgent && column !== undefined)) return [];
    const name = TITLES[target] ?? fieldName(target);
    if (column === undefined) return [{ text: `${name} “${shownChoice(source.value ?? "")}”`, index: undefined }];
    const index = columnIndex(table.names, column);
    return [{ text: `${name} ← ${columnsIn(source)}${noteOn(match, target, source, index)}`, index }];
  };
  const agentOf = (): SummaryPart[] => {
    const agent = Object.entries(fields).filter(([target]) => target.startsWith(AGENT));
    const made = agent.map(([, source]) => source).filter(firstColumn);
    const text = `Agent ← ${[...new Set(made.map(columnsIn))].join(" and ")}`;
    return made.slice(0, 1).map((source) => ({ text, index: columnIndex(table.names, firstColumn(source) ?? "") }));
  };
  const countedOf = (role: string, things: string, what: string): SummaryPart[] => {
    const own = roles.filter((each) => each.role === role);
    return own.slice(0, 1).map(({ index }) => ({ text: `${countOf(own.length, things)} ${what}`, index }));
  };
  return [
    ...(fields["external_id"] ? [] : [{ text: "No ID yet", index: undefined }]),
    ...[...new Set(["external_id", "status", "completed_at", ...Object.keys(FIELD_NAMES)])].flatMap(partOf),
    ...agentOf(),
    ...(event ? [{ text: "Each row is an event of its item", index: undefined }] : []),
    ...countedOf(KEPT, "other column", "kept"),
    ...countedOf(LEFT_OUT, "column", "left out"),
  ];
}
