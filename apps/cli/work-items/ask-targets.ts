import { type Proposal, proposeMapping, type Sample } from "@work-items/importer/proposals/propose-mapping.ts";
import { zoneNamed } from "@work-items/importer/proposals/propose-time.ts";
import type { Survey } from "@work-items/importer/proposals/survey.ts";
import {
  canBeLeft,
  fieldsOfTarget,
  type NamedIndex,
  type TargetName,
  type TargetState,
  targetStates,
} from "@work-items/importer/proposals/target-states.ts";
import type { Terminal } from "@work-items/terminal/terminal.ts";
import { comparable, numberedNames } from "@work-items/lib/uploads/csv/header-names.ts";
import { fieldOf, itemTarget } from "@work-items/lib/uploads/csv/target.ts";
import { problemsOfMapping } from "@work-items/lib/uploads/mapping/check-mapping.ts";

/** A file that was looked at as a whole. */
export type SurveyedSample = Sample & { readonly survey: Survey };

/** Whether a person can answer. */
export function isPersonAt({ stdin, stderr }: Terminal): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** The line about targets that nothing sets; none if all are set. */
export function notFoundLines(targets: readonly TargetName[]): string[] {
  return targets.length === 0 ? [] : [`not found: ${targets.join(", ")}`];
}

/** The field of a target that one column or value sets. */
function fieldOfTarget(target: TargetName): string {
  return target === "agent" ? "agent_name" : (fieldsOfTarget(target)[0] ?? target);
}

/** What happens to a target that is left, in a few words. */
function withoutSource(target: TargetName): string {
  const made = itemTarget(target);
  const initial = made && fieldOf(made)?.initial;
  return typeof initial === "string" ? `for the default (${initial})` : "to leave it empty";
}

function questionOf({ target, candidates, columns }: TargetState): string {
  const answers = "number or name of a column, or =value for all rows";
  if (columns.length > 0) return `${target}: ${answers} [${candidates[0]?.column ?? ""}] `;
  return `${target}: ${answers}${canBeLeft(target) ? `, or Enter ${withoutSource(target)}` : ""}: `;
}

/** Longer values are cut. */
const SHOWN_CHARACTERS = 40;

/** A column with its number in the file and three of its values. */
function shownColumn({ index, column }: NamedIndex, { columns }: Survey): string {
  const examples = columns[index]?.examples ?? [];
  const shown = examples.map((text) => (text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text));
  return `  ${index + 1}  "${column}": ${shown.join(", ")}`;
}

/** A column by its name, or by its number in the file; undefined if there is none. */
function columnOf(answer: string, all: readonly NamedIndex[]): NamedIndex | undefined {
  const named = all.find(({ column }) => comparable(column) === comparable(answer));
  return named ?? (/^\d+$/.test(answer) ? all[Number(answer) - 1] : undefined);
}

/** The targets that a person is asked about: those that nothing sets, and those that several columns could set. */
function isAsked({ state, columns, candidates }: TargetState): boolean {
  return state === "missing" || (state === "asked" && candidates.length > columns.length);
}

/** Asks in which time zone times without an offset are; undefined if the file says it. */
async function askZone(terminal: Terminal, { questions = [] }: Proposal): Promise<string | undefined> {
  const zones = questions.filter(({ kind }) => kind === "zone");
  const [first] = zones;
  if (first?.kind !== "zone") return undefined;
  const columns = zones.map(({ column }) => `"${column}"`).join(" and ");
  for (;;) {
    const answer = (await terminal.ask(`time zone of times in ${columns} [${first.timeZone}] `)) || first.timeZone;
    const zone = zoneNamed(answer);
    if (zone !== undefined) return zone;
    terminal.note(`"${answer}" isn't a time zone, such as Europe/Berlin`);
  }
}

/**
 * Asks the person at the terminal about each target that nothing sets, or that several columns could set, and for the time
 * zone.
 * @returns the proposal after the answers
 */
export async function askTargets(terminal: Terminal, sample: SurveyedSample): Promise<Proposal> {
  const chosen = new Map<string, number>();
  const values = new Map<TargetName, string>();
  const propose = (timeZone?: string): Proposal => {
    const zone = timeZone === undefined ? {} : { timeZone, isZoneChosen: true };
    const proposal = proposeMapping({ ...sample, ...zone, chosen });
    const replaced = new Set([...values.keys()].flatMap(fieldsOfTarget));
    const others = Object.entries(proposal.mapping.fields ?? {}).filter(([field]) => !replaced.has(field));
    const fixed = [...values].map(([target, value]) => [fieldOfTarget(target), { value }] as const);
    return { ...proposal, mapping: { ...proposal.mapping, fields: Object.fromEntries([...others, ...fixed]) } };
  };
  const statesOf = (proposal: Proposal): readonly TargetState[] => targetStates({ ...sample, ...proposal });
  const all = numberedNames(sample.names).map((column, index) => ({ index, column }));
  let proposal = propose();
  const questions = statesOf(proposal).filter(isAsked);
  if (questions.some(({ candidates }) => candidates.length === 0)) {
    for (const column of all) terminal.note(shownColumn(column, sample.survey));
  }
  /** @returns why an answer can't be taken; undefined if it was */
  const take = (target: TargetName, answer: string): string | undefined => {
    const field = fieldOfTarget(target);
    const column = answer.startsWith("=") ? undefined : columnOf(answer, all);
    if (answer.startsWith("=")) values.set(target, answer.slice(1));
    else if (column) chosen.set(field, column.index);
    const next = propose();
    const columns = statesOf(next).find((each) => each.target === target)?.columns ?? [];
    const isTaken = column ? columns.some(({ index }) => index === column.index) : values.has(target);
    const problem = problemsOfMapping(next.mapping).find(({ path }) => path.includes(field));
    if (isTaken && problem === undefined) {
      proposal = next;
      return undefined;
    }
    values.delete(target);
    chosen.delete(field);
    if (problem) return problem.message;
    return column ? `"${column.column}" doesn't fit ${target}` : `there is no column ${answer}`;
  };
  for (const asked of questions) {
    if (asked.reason !== "") terminal.note(`${asked.target}: ${asked.reason}`);
    for (const column of asked.candidates) terminal.note(shownColumn(column, sample.survey));
    for (let isOpen = true; isOpen;) {
      const answer = await terminal.ask(questionOf(asked));
      const problem = answer === "" ? undefined : take(asked.target, answer);
      if (problem !== undefined) terminal.note(problem);
      isOpen = problem !== undefined;
    }
  }
  const zone = await askZone(terminal, proposal);
  return zone === undefined ? proposal : propose(zone);
}
