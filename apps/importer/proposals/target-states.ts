import { comparable, numberedNames } from "@work-items/lib/uploads/csv/header-names.ts";
import { ATTRIBUTE_PREFIX, EVENT_FIELD_NAMES, ITEM_FIELD_NAMES } from "@work-items/lib/uploads/csv/target.ts";
import { columnsOfAll } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import type { Mapping, Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { choicesOf, unansweredWords } from "./known-choices.ts";
import type { ProposedColumn } from "./propose-mapping.ts";
import { DOUBTS, type TimeQuestion } from "./propose-time.ts";
import type { Survey } from "./survey.ts";

/** What every import sets in its items, in the order in which it is shown. */
export const ITEM_TARGETS = ["external_id", "agent", "status", "completed_at", "type", "short_description"] as const;
/** What an import of events sets in addition. */
const EVENT_TARGETS = ["event.external_id", "event.actor", "event.occurred_at", "event.content"] as const;

/** What an import sets. An agent or actor has several fields. */
export type TargetName = (typeof ITEM_TARGETS)[number] | (typeof EVENT_TARGETS)[number];

/** What a person decided about a target: that it stays as the mapping has it, or that it is left empty. */
export type Decision = "as mapped" | "left";

/** What a person decided about each target. */
export type Decisions = Readonly<Partial<Record<TargetName, Decision>>>;

/**
 * - `found`: the mapping has a source for it, and nothing speaks against that
 * - `asked`: the mapping may be wrong; `reason` says why, `candidates` are the columns to choose from
 * - `missing`: no column of the file was recognized, and a person has yet to decide what happens then
 * - `left`: a person decided that the import doesn't set it: status and type have their defaults, others stay empty
 */
type State = "found" | "asked" | "missing" | "left";

export interface NamedIndex {
  /** Its index in the file. */
  readonly index: number;
  /** Its name in mappings. */
  readonly column: string;
}

export interface TargetState {
  readonly target: TargetName;
  readonly state: State;
  /** The columns that it is made of, in the order of the file. */
  readonly columns: readonly NamedIndex[];
  /** The value of all rows; undefined without one. */
  readonly value?: string | undefined;
  /** The columns that a person can choose from: those that it is made of first. */
  readonly candidates: readonly NamedIndex[];
  /** Why it is asked; otherwise how it was recognized. Empty if unknown. */
  readonly reason: string;
  /** Whether the columns themselves are in doubt, not only how they are read. */
  readonly areColumnsLikely?: boolean;
}

/** What decides the states of an import's targets. */
export interface TargetEvidence {
  /** The header's cells. */
  readonly names: readonly string[];
  /** What all rows show. */
  readonly survey: Survey;
  /** The mapping as it is now. */
  readonly mapping: Mapping;
  /** What is proposed for the columns, as far as the whole file confirms it; empty for a mapping that was given. */
  readonly columns: readonly ProposedColumn[];
  /** The questions about date-times that are still open. */
  readonly questions?: readonly TimeQuestion[];
  /** The columns whose values can't be read as date-times, and why. No decision changes that. */
  readonly unread?: readonly { readonly column: string; readonly problem: string }[];
  readonly decisions?: Decisions;
}

/** Targets without which the service accepts no row. */
const REQUIRED: ReadonlySet<TargetName> = new Set(["external_id", "event.external_id"]);

/** Whether a target can be left empty. */
export function canBeLeft(target: TargetName): boolean {
  return !REQUIRED.has(target);
}

const SUBJECT = "short_description";

/** The fields of a target, as keys of the mapping's `fields` or `event`. */
export function fieldsOfTarget(target: TargetName): readonly string[] {
  if (target === SUBJECT) return [ATTRIBUTE_PREFIX + SUBJECT];
  if (target === "agent") return ITEM_FIELD_NAMES.filter((name) => name.startsWith("agent_"));
  if (target === "event.actor") return EVENT_FIELD_NAMES.filter((name) => name.startsWith("actor_"));
  return [target.replace("event.", "")];
}

/** The targets that a mapping can set. */
export function targetsIn({ event }: Pick<Mapping, "event">): readonly TargetName[] {
  return event === undefined ? ITEM_TARGETS : [...ITEM_TARGETS, ...EVENT_TARGETS];
}

/** Whether a target belongs to the events of items. */
export function isOfEvent(target: TargetName): boolean {
  return target.startsWith("event.");
}

/** The sources of a target, by field. */
export function sourcesOf(
  target: TargetName,
  { names, mapping }: Pick<TargetEvidence, "names" | "mapping">,
): (readonly [string, Source])[] {
  const { fields = {}, event = {}, others } = mapping;
  const sources = isOfEvent(target) ? event : fields;
  const found = fieldsOfTarget(target).flatMap((field) => {
    const source = sources[field];
    return source ? [[field, source] as const] : [];
  });
  // `others` keeps a column of that name as the attribute.
  const isKept = target === SUBJECT && others === "custom_attributes" && numberedNames(names).includes(SUBJECT);
  return found.length === 0 && isKept ? [[ATTRIBUTE_PREFIX + SUBJECT, { column: SUBJECT }]] : found;
}

/** The columns that sources name. */
function columnsIn(sources: readonly Source[], names: readonly string[]): NamedIndex[] {
  const used = columnsOfAll(sources);
  return numberedNames(names)
    .map((column, index) => ({ index, column }))
    .filter(({ column }) => used.has(comparable(column)));
}

/** The question about the choices that a source makes of its values; undefined if all are known. */
function unansweredIn(field: string, source: Source, columns: readonly NamedIndex[], evidence: TargetEvidence) {
  if (choicesOf(field) === undefined) return undefined;
  const empty = new Set(evidence.mapping.empty?.map(comparable));
  const words = columns
    .flatMap(({ index }) => [...(evidence.survey.columns[index]?.words?.keys() ?? [])])
    .filter((word) => !empty.has(comparable(word)));
  const [first] = unansweredWords(field, source, words);
  return first === undefined ? undefined : `what "${first}" means isn't known`;
}

function stateOf(target: TargetName, evidence: TargetEvidence): TargetState {
  const { names, columns: proposed, questions = [], unread = [], decisions = {} } = evidence;
  const decision = decisions[target];
  const sources = sourcesOf(target, evidence);
  const columns = columnsIn(
    sources.map(([, source]) => source),
    names,
  );
  const value = sources.map(([, source]) => source.value).find((each) => each !== undefined);
  const own = proposed.filter(({ index }) => columns.some((each) => each.index === index));
  const fields = fieldsOfTarget(target);
  const rivals = isOfEvent(target)
    ? []
    : proposed.filter((each) => !own.includes(each) && fields.includes(each.mayBe ?? ""));
  const base = { target, columns, value } as const;
  if (sources.length === 0) {
    const isLeft = decision === "left" && canBeLeft(target);
    const reason = rivals.map((each) => each.reason).find((each) => each !== "") ?? "";
    if (isLeft || rivals.length === 0)
      return { ...base, state: isLeft ? "left" : "missing", candidates: [], reason: "" };
    return { ...base, state: "asked", candidates: rivals, reason };
  }
  const isAnswered = ({ column, isOnlyAsked = false }: ProposedColumn): boolean =>
    isOnlyAsked && !questions.some((question) => comparable(question.column) === comparable(column));
  const likely = decision === "as mapped" ? [] : own.filter((each) => each.certainty === "likely" && !isAnswered(each));
  const said = new Set(likely.map(({ column }) => comparable(column)));
  const isAsked = ({ column }: Pick<TimeQuestion, "column">): boolean =>
    columns.some((each) => comparable(each.column) === comparable(column)) && !said.has(comparable(column));
  const asks = [
    ...likely.map(({ reason }) => reason),
    ...sources.flatMap(([field, source]) => unansweredIn(field, source, columns, evidence) ?? []),
    ...questions.filter(isAsked).map(({ kind }) => DOUBTS[kind]),
    ...unread.filter(isAsked).map(({ problem }) => problem),
  ];
  if (asks.length === 0) return { ...base, state: "found", candidates: [], reason: own[0]?.reason ?? "" };
  const candidates = [...columns, ...(likely.length > 0 ? rivals : [])];
  const areColumnsLikely = likely.some(({ isOnlyAsked = false }) => !isOnlyAsked);
  return { ...base, state: "asked", candidates, reason: [...new Set(asks)].join("; "), areColumnsLikely };
}

/** The states of all targets of an import, always all of them and in the same order. */
export function targetStates(evidence: TargetEvidence): readonly TargetState[] {
  return targetsIn(evidence.mapping).map((target) => stateOf(target, evidence));
}

/** The targets of an import that nothing sets. */
export function unsetTargets(evidence: Pick<TargetEvidence, "names" | "mapping">): readonly TargetName[] {
  return targetsIn(evidence.mapping).filter((target) => sourcesOf(target, evidence).length === 0);
}
