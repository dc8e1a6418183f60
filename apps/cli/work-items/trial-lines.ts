import type { Client, UploadJob } from "work-items-client/client.ts";
import { readResultingItems, type ResultingItem, type TriedFile } from "@work-items/importer/checks/resulting-items.ts";
import {
  type CountedValue,
  type FieldValues,
  type ResultingFindings,
  VALUES_MAX,
} from "@work-items/importer/checks/resulting-values.ts";
import { changedByRows, type TrialRows } from "@work-items/importer/checks/trial-rows.ts";
import { countOf, type Terminal } from "@work-items/terminal/terminal.ts";

/** How many fields of an item are shown, and how many characters of a value. */
const SHOWN_FIELDS = 8;
const SHOWN_CHARACTERS = 60;

function shown(value: unknown): string {
  if (value === null || value === undefined) return "(empty)";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

function counted(values: readonly CountedValue[]): string[] {
  return values.map(([value, rows]) => `${shown(value)} (${rows})`);
}

function fieldLine(name: string, { values, otherRows, different, emptyRows }: FieldValues, of: number): string {
  const others =
    different === undefined
      ? `more than ${VALUES_MAX.toLocaleString("en-US")} others`
      : `${different - values.length} others`;
  const parts = [...counted(values), ...(otherRows > 0 ? [`${others} (${otherRows})`] : [])];
  const empty =
    emptyRows === of ? "; not in this file" : emptyRows > 0 ? `; empty in ${countOf(emptyRows, "row")}` : "";
  return `${name}: ${parts.join(", ")}${empty}`.replace(": ;", ":");
}

/** Rows with a completion date that aren't completed, by status: a line or none. @param when words before their number */
export function unfinishedLines(unfinishedRows: readonly CountedValue[], when = ""): string[] {
  const unfinished = unfinishedRows.reduce((sum, [, count]) => sum + count, 0);
  if (unfinished === 0) return [];
  return [
    `please check: ${when}${countOf(unfinished, "row")} ${unfinished === 1 ? "has" : "have"} a completion date but ` +
      `${unfinished === 1 ? "isn't" : "aren't"} completed: ${counted(unfinishedRows).join(", ")}`,
  ];
}

/** Describes the values that all rows of a file would have, and what contradicts. */
function valueLines({
  rows,
  status,
  type,
  agent,
  completion,
  undatedRows,
  unfinishedRows,
}: ResultingFindings): string[] {
  const { earliest, latest, futureRows, emptyRows } = completion;
  const empty = emptyRows > 0 ? `; empty in ${countOf(emptyRows, "row")}` : "";
  return [
    fieldLine("status", status, rows),
    fieldLine("type", type, rows),
    fieldLine("agent", agent, rows),
    earliest === undefined ? "completed_at: not in this file" : `completed_at: ${earliest} to ${latest}${empty}`,
    ...(futureRows > 0 ? [`please check: ${countOf(futureRows, "row")} would be completed in the future`] : []),
    ...(undatedRows > 0
      ? [
          `please check: ${countOf(undatedRows, "row")} ${undatedRows === 1 ? "is" : "are"} completed without a completion date`,
        ]
      : []),
    ...unfinishedLines(unfinishedRows),
  ];
}

const VERBS = {
  created: "would create",
  updated: "would change",
  restored: "would restore",
  unchanged: "would leave unchanged",
  error: "would be rejected",
} as const;

/** What an example would do: "row 3 would change T-1: status pending -> completed". */
function itemLine({ row, externalId, outcome, changes, fields, error }: ResultingItem): string {
  if (error) return `row ${row} ${VERBS[outcome]}: ${error.message}`;
  const changed = changes.map(({ field, values }) =>
    values ? `${field} ${shown(values.from)} -> ${shown(values.to)}` : field,
  );
  const all = Array.from(fields, ([field, value]) => `${field} ${shown(value)}`);
  const parts = outcome === "created" ? all : changed;
  const more = parts.length - SHOWN_FIELDS;
  const end = [...parts.slice(0, SHOWN_FIELDS), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
  return `row ${row} ${VERBS[outcome]}${externalId === "" ? "" : ` ${externalId}`}${end === "" ? "" : `: ${end}`}`;
}

/** Prints what a trial shows beyond its counts: values of the whole file, what contradicts, changed fields, and examples. */
export async function noteTrial(
  terminal: Terminal,
  client: Client,
  trial: UploadJob,
  { examples }: Pick<TrialRows, "examples">,
  { findings, ...file }: TriedFile & { readonly findings: ResultingFindings },
): Promise<void> {
  for (const line of valueLines(findings)) terminal.note(line);
  const changed = changedByRows(trial.changed_fields);
  if (changed.length > 0) {
    terminal.note(
      `would change: ${changed.map(([field, count]) => `${field} in ${countOf(count, "row")}`).join(", ")}`,
    );
  }
  for (const item of await readResultingItems(client, examples, file)) terminal.note(itemLine(item));
}
