import type { Client, Mapping, UploadJob, WorkItemUpload } from "work-items-client/client.ts";
import { type Mapping as CheckedMapping, mappingSchema } from "@work-items/lib/uploads/mapping/mapping.ts";
import { type EmptyCells, shownEmptyCells, undecidedEmptyCells } from "@work-items/importer/checks/empty-cells.ts";
import { compareWithExisting } from "@work-items/importer/checks/existing-ids.ts";
import type { TrialRows } from "@work-items/importer/checks/trial-rows.ts";
import type { FileRow, IdFindings } from "@work-items/importer/ids/repeated-ids.ts";
import type { TargetName } from "@work-items/importer/proposals/target-states.ts";
import { countOf, type Terminal } from "@work-items/terminal/terminal.ts";
import { isPersonAt } from "./ask-targets.ts";
import { shownRows } from "./proposal-lines.ts";
import { BY_NAMES, type SeenFile } from "./survey-file.ts";

/** The mapping that will be used; undefined if it isn't valid, which the service reports. */
export async function usedMapping(client: Client, mapping: Mapping | undefined): Promise<CheckedMapping | undefined> {
  if (mapping === undefined) return BY_NAMES;
  const given = "from" in mapping ? (await client.uploads.get(mapping.from)).mapping : mapping;
  return mappingSchema.safeParse(given).data;
}

/** Says how to remove the outer spaces of IDs, if some have any. */
function noteSpaces(terminal: Terminal, { spacedRows }: IdFindings): void {
  if (spacedRows === 0) return;
  terminal.note(
    `"trim": true beside the column of external_id in the mapping removes the spaces around the ID of ${countOf(spacedRows, "row")}`,
  );
}

/** Prints which IDs repeat or look like another one. */
export function noteIds(terminal: Terminal, ids: IdFindings): void {
  const { repeatedRows, repeated, oddRows, odd, isComplete } = ids;
  if (oddRows > 0) {
    const differ = oddRows === 1 ? "1 row has an ID that differs" : `${oddRows} rows have IDs that differ`;
    terminal.note(`${differ} from what you see${odd.length < oddRows ? "; the first" : ""}:`);
    for (const { row, externalId, oddity } of odd) terminal.note(`row ${row}: "${externalId}" has ${oddity}`);
  }
  noteSpaces(terminal, ids);
  if (!isComplete) terminal.note("there are more IDs than can be compared here; later rows may repeat one");
  if (repeatedRows === 0) {
    if (isComplete) terminal.note("no ID repeats");
    return;
  }
  const rows = repeatedRows === 1 ? "1 row repeats" : `${repeatedRows} rows repeat`;
  const which = repeated.length < repeatedRows ? "; the first IDs" : "";
  terminal.note(`${rows} the ID of an earlier row, and the later row wins${which}:`);
  for (const { row, externalId, firstRow } of repeated) {
    terminal.note(`row ${row}: ${externalId}, first in row ${firstRow}`);
  }
}

/** Prints the counts of a trial, in one line. */
export function noteCounts(terminal: Terminal, trial: WorkItemUpload): void {
  const counts = [
    `would create ${trial.created_rows}`,
    `change ${trial.updated_rows}`,
    `restore ${trial.restored_rows}`,
    `leave ${trial.unchanged_rows} unchanged`,
    `reject ${trial.failed_rows}`,
  ];
  terminal.note(`trial of ${countOf(trial.total_rows, "row")}: ${counts.join(", ")}`);
}

/** Limit of the look-alikes that are shown. */
const SHOWN_ALIKE = 10;

/** Prints which new IDs look like that of an item that exists. @returns their number */
export async function noteAlike(
  terminal: Terminal,
  client: Client,
  { created_rows: created }: UploadJob,
  rows: Pick<TrialRows, "created">,
): Promise<number> {
  const { alike, compared } = await compareWithExisting(client, rows);
  for (const { row, externalId, existing } of alike.slice(0, SHOWN_ALIKE)) {
    terminal.note(`row ${row}: "${externalId}" would be new, but "${existing}" exists and looks the same`);
  }
  if (alike.length > SHOWN_ALIKE) terminal.note(`${countOf(alike.length, "row")} in all would create such items`);
  if (compared < created) terminal.note(`${compared} of ${created} new IDs were compared with those that exist`);
  return alike.length;
}

/** The columns with empty cells, if a trial would update items and the mapping doesn't say what such cells do. */
export function undecidedIn(
  trial: UploadJob,
  { mapping, names, survey }: Pick<SeenFile, "mapping" | "names" | "survey">,
): EmptyCells[] {
  const isUpdate = trial.updated_rows + trial.restored_rows > 0;
  return survey && isUpdate ? undecidedEmptyCells(mapping, names, survey) : [];
}

/** Prints such columns. */
export function noteEmptyCells(terminal: Terminal, trial: UploadJob, cells: readonly EmptyCells[]): void {
  if (cells.length === 0) return;
  terminal.note(
    `${countOf(trial.updated_rows + trial.restored_rows, "row")} would update items, and ` +
      `${cells.length === 1 ? "this column has" : "these columns have"} empty cells: ${shownEmptyCells(cells)}; ` +
      'the items keep what they have: say so with "blank": "keep" in the mapping, or clear it with "blank": "clear"',
  );
}

/** Asks a yes-or-no question. @returns undefined without a terminal */
async function ask(terminal: Terminal, question: string): Promise<boolean | undefined> {
  if (!isPersonAt(terminal)) return undefined;
  return /^y(?:es)?$/i.test(await terminal.ask(question));
}

/** Why a person has to agree to an import. */
interface Reasons {
  readonly ids: IdFindings | undefined;
  /** Number of new IDs that look like existing ones. */
  readonly alike: number;
  /** Number of rows that would reopen items and keep their completion dates: `--yes` doesn't decide that. */
  readonly reopened: number;
  /** The targets that nothing sets. */
  readonly unset: readonly TargetName[];
  /** The rows that are left out. */
  readonly leftOut: readonly FileRow[];
}

/**
 * Asks whether to import after a trial. If existing items would change, IDs repeat or look alike, a target isn't set or rows
 * are left out, a person has to agree.
 * @param isAgreed whether to import without asking
 * @returns whether to start the import
 */
export async function confirmed(
  terminal: Terminal,
  trial: WorkItemUpload,
  { ids, alike, reopened, unset, leftOut }: Reasons,
  isAgreed: boolean,
): Promise<boolean> {
  const isHarmless =
    trial.updated_rows + trial.restored_rows + (ids?.repeatedRows ?? 0) + alike + unset.length + leftOut.length === 0;
  if (reopened > 0) {
    terminal.note(
      `${countOf(reopened, "row")} would reopen completed items, which keep their completion dates; nothing was imported: ` +
        'add "blank": "clear" to the mapping, or "blank": "keep"',
    );
    return false;
  }
  if (isHarmless || isAgreed) return true;
  const without = leftOut.length === 0 ? "" : ` without ${shownRows(leftOut)}`;
  const answer = await ask(terminal, `Import the file${without}? [y/N] `);
  if (answer === true) return true;
  terminal.note(`nothing was imported${answer === undefined ? "; --yes imports without asking" : ""}`);
  return false;
}
