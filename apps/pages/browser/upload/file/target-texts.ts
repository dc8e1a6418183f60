import { personInBrackets } from "@work-items/importer/proposals/agent-columns.ts";
import {
  canBeLeft,
  fieldsOfTarget,
  isOfEvent,
  sourcesOf,
  targetsIn,
  type TargetName,
  type TargetState,
} from "@work-items/importer/proposals/target-states.ts";
import { ATTRIBUTE_PREFIX, fieldOf, isTime, itemTarget } from "@work-items/lib/uploads/csv/target.ts";
import type { Mapping, Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import type { Answered } from "./answers.ts";
import { EVENT_NAMES, FIELD_NAMES, shownChoice } from "../parts/field-names.ts";
import { countOf } from "../parts/shown.ts";
import { keyOf, namesIn } from "./sources.ts";
import { isOpen } from "./target-questions.ts";
import type { SurveyedTable } from "./table-file.ts";

const NAMES: Readonly<Record<TargetName, string>> = {
  external_id: FIELD_NAMES["external_id"]!,
  agent: "Agent",
  status: FIELD_NAMES["status"]!,
  completed_at: FIELD_NAMES["completed_at"]!,
  type: FIELD_NAMES["type"]!,
  short_description: FIELD_NAMES[`${ATTRIBUTE_PREFIX}short_description`]!,
  "event.external_id": EVENT_NAMES["external_id"]!,
  "event.actor": "Actor",
  "event.occurred_at": EVENT_NAMES["occurred_at"]!,
  "event.content": EVENT_NAMES["content"]!,
};

const QUESTIONS: Readonly<Record<TargetName, string>> = {
  external_id: "Which column is the ID?",
  agent: "Which column is the agent?",
  status: "Which column is the status?",
  completed_at: "Which column has the completion date?",
  type: "Which column is the type?",
  short_description: "Which column is the subject?",
  "event.external_id": "Which column is the ID of the event?",
  "event.actor": "Which column is the actor?",
  "event.occurred_at": "Which column says when it happened?",
  "event.content": "Which column says what happened?",
};

/** A target as the page calls it. */
export function targetName(target: TargetName): string {
  return NAMES[target];
}

/** Asks for a target's column. */
export function targetQuestion(target: TargetName): string {
  return QUESTIONS[target];
}

/** A target's field as the page calls it. */
export function fieldLabel(target: TargetName, field: string): string {
  return (isOfEvent(target) ? EVENT_NAMES : FIELD_NAMES)[field] ?? field;
}

/** Whether a target can have the same value in every row. */
export function canHaveValue(target: TargetName): boolean {
  const [field = ""] = fieldsOfTarget(target);
  const made = itemTarget(field);
  return !isOfEvent(target) && canBeLeft(target) && made !== undefined && !isTime(made);
}

/** The value of new items if an import doesn't set a target; undefined if they have none. */
export function defaultOf(target: TargetName, { fields = {} }: Pick<Mapping, "fields">): string | undefined {
  const made = itemTarget(target);
  const initial = made && fieldOf(made)?.initial;
  if (typeof initial !== "string") return undefined;
  if (target !== "status") return initial;
  const isDated = fields["completed_at"] !== undefined;
  return isDated ? `Completed with a completion date, otherwise ${shownChoice(initial)}` : shownChoice(initial);
}

/** If something is made of more columns, they are only counted. */
const NAMED_COLUMNS = 4;

/** A choice of columns, such as “Date” + “Time”. */
export function shownNames(key: string): string {
  return namesIn(key)
    .map((each) => `“${each}”`)
    .join(" + ");
}

function shownColumns({ column, columns = [], first_of: first = [], values = {} }: Source): string {
  if (first.length > 0) return first.map(shownColumns).join(", else ");
  const isUnwrapped = Object.entries(values).some(([text, value]) => personInBrackets(text) === value);
  if (column !== undefined) return `“${column}”${isUnwrapped ? " without brackets" : ""}`;
  return columns.length > NAMED_COLUMNS ? countOf(columns.length, "column") : shownNames(keyOf({ columns }));
}

/** A file and its mapping. */
type Mapped = Pick<Answered, "mapping"> & { readonly table: Pick<SurveyedTable, "names"> };

/** What sets a target, such as “Owner”; empty if nothing does. */
export function shownSources(target: TargetName, { table, mapping }: Mapped): string {
  const sources = sourcesOf(target, { names: table.names, mapping }).map(([, source]) => source);
  const value = sources.map((source) => source.value).find((each) => each !== undefined);
  if (value !== undefined) return `“${target === "status" ? shownChoice(value) : value}” in every row`;
  return [...new Set(sources.map(shownColumns))].join(" and ");
}

/** What an import does with a target. */
function shownOutcome({ target, value }: Pick<TargetState, "target" | "value">, mapped: Mapped): string {
  const sources = shownSources(target, mapped);
  if (sources !== "") return value === undefined ? `from ${sources}` : sources;
  const initial = defaultOf(target, mapped.mapping);
  if (initial === undefined) return "empty";
  return target === "status" ? initial : `${initial} for all`;
}

/** What stands in the line of a target: what the import does with it, or that it is asked. */
export function shownState(state: TargetState, match: Mapped & Answered): string {
  if (isOpen(state)) return "needs an answer";
  const outcome = shownOutcome(state, match);
  if (match.remembered.has(state.target)) return `remembered: ${outcome}`;
  return state.state === "asked" && state.columns.length > 0 ? `${outcome}, likely` : outcome;
}

/** The targets in a line, such as “ID ← “Ticket ID” · Type ← work_item for all”. */
export function shownInLine(mapped: Mapped): string {
  const shown = (target: TargetName): string =>
    shownSources(target, mapped) || shownOutcome({ target, value: undefined }, mapped);
  return targetsIn(mapped.mapping)
    .map((target) => `${targetName(target)} ← ${shown(target)}`)
    .join(" · ");
}
