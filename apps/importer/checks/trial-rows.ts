import type { ResultRow, UploadJob } from "work-items-client/client.ts";
import { isJsonObject } from "@work-items/lib/json.ts";
import type { EmptyCells } from "./empty-cells.ts";
import { jsonIn, readFirstResults } from "./first-results.ts";

/** How many rows are shown. */
const SHOWN_ROWS = 5;
/** Limit of the new IDs that are remembered. */
const CREATED_MAX = 10_000;

/** Outcomes of a row in a trial, in the order in which one of each is shown, and the job's counters of them. */
const COUNTERS = {
  created: "created_rows",
  updated: "updated_rows",
  restored: "restored_rows",
  unchanged: "unchanged_rows",
  error: "failed_rows",
} as const;
type TrialOutcome = keyof typeof COUNTERS;
const OUTCOMES = Object.keys(COUNTERS) as TrialOutcome[];

/** The counters of a job by which the reading ends early. */
export type TrialCounters = Readonly<Record<(typeof COUNTERS)[TrialOutcome], number>> &
  Pick<UploadJob, "changed_fields">;

/** A field that a row would change; without its values if they are too long for the results. */
export interface FieldChange {
  readonly field: string;
  readonly values?: { readonly from: unknown; readonly to: unknown };
}

/** A row of a trial's results. */
export interface TrialRow {
  /** Number of the row in the imported file. */
  readonly row: number;
  readonly externalId: string;
  /** ID of its item; empty if the row fails. */
  readonly id: string;
  readonly outcome: TrialOutcome;
  /** Empty unless the row would change an item. */
  readonly changes: readonly FieldChange[];
}

/** What the results of a trial show. */
export interface TrialRows {
  /** Five rows, with one of each outcome that occurs in the part that was read, in the order of the file. */
  readonly examples: readonly TrialRow[];
  /** The first five rows that would change items that exist. */
  readonly changed: readonly TrialRow[];
  /** The first rows that would create items. */
  readonly created: readonly Pick<TrialRow, "row" | "externalId">[];
  /** Number of rows by which completed items would have another status but keep their completion dates. */
  readonly reopened: number;
}

/** The fields in the column `changes`; none if it isn't what the service writes. */
export function changesIn({ changes: cell }: ResultRow): FieldChange[] {
  const changes = jsonIn(cell);
  if (Array.isArray(changes)) return changes.filter((name) => typeof name === "string").map((field) => ({ field }));
  if (!isJsonObject(changes)) return [];
  return Object.entries(changes).map(([field, values]) =>
    isJsonObject(values) ? { field, values: { from: values["from"], to: values["to"] } } : { field },
  );
}

/** Five rows in the order of the file: one of each outcome first, then the second of each. */
function examplesOf(byOutcome: ReadonlyMap<TrialOutcome, readonly TrialRow[]>): TrialRow[] {
  const ofEach = OUTCOMES.map((outcome) => byOutcome.get(outcome) ?? []);
  const inTurns = Array.from({ length: SHOWN_ROWS }, (_, turn) => ofEach.flatMap((rows) => rows[turn] ?? [])).flat();
  return inTurns.slice(0, SHOWN_ROWS).toSorted((a, b) => a.row - b.row);
}

/**
 * Reads the results of a trial once, as far as what they show needs.
 * @param trial its counters, by which the reading ends
 * @param cells the columns whose empty cells may keep completion dates: rows that reopen items are counted only with such a one
 */
export async function readTrialRows(
  results: AsyncIterable<ResultRow>,
  trial: TrialCounters,
  cells: readonly Pick<EmptyCells, "isCompletion">[] = [],
): Promise<TrialRows> {
  const byOutcome = new Map<TrialOutcome, TrialRow[]>();
  const changed: TrialRow[] = [];
  const created: Pick<TrialRow, "row" | "externalId">[] = [];
  const createdMax = Math.min(CREATED_MAX, trial.created_rows);
  /** The items that later rows may change. */
  const ofFile = new Set<string>();
  let unreadChanges = trial.updated_rows + trial.restored_rows;
  let unreadStatus = cells.some(({ isCompletion }) => isCompletion) ? (trial.changed_fields?.["status"] ?? 0) : 0;
  let reopened = 0;
  const isShown = (outcome: TrialOutcome): boolean =>
    (byOutcome.get(outcome)?.length ?? 0) >= Math.min(SHOWN_ROWS, trial[COUNTERS[outcome]]);
  const show = (result: ResultRow): boolean => {
    const { row, external_id: externalId, id } = result;
    const outcome = OUTCOMES.find((each) => each === result.outcome);
    if (outcome === undefined) return false;
    const isChange = outcome === "updated" || outcome === "restored";
    if (isChange) unreadChanges--;
    if (outcome === "created" && created.length < createdMax) created.push({ row, externalId });
    if (outcome === "created" && unreadChanges > 0) ofFile.add(id);
    const known = byOutcome.get(outcome) ?? [];
    const isChanged = isChange && !ofFile.has(id) && changed.length < SHOWN_ROWS;
    if (known.length < SHOWN_ROWS || isChanged || unreadStatus > 0) {
      const shown: TrialRow = { row, externalId, id, outcome, changes: changesIn(result) };
      if (known.length < SHOWN_ROWS) byOutcome.set(outcome, [...known, shown]);
      if (isChanged) changed.push(shown);
      const status = shown.changes.find(({ field }) => field === "status");
      const isDated = shown.changes.some(({ field }) => field === "completed_at");
      if (status && unreadStatus > 0) {
        unreadStatus--;
        // A row that a worker found again has no values: it may reopen its item.
        if ((status.values?.from ?? "completed") === "completed" && !isDated) reopened++;
      }
    }
    const areChangesKnown = changed.length === SHOWN_ROWS || unreadChanges === 0;
    return created.length === createdMax && unreadStatus === 0 && areChangesKnown && OUTCOMES.every(isShown);
  };
  await readFirstResults(results, show, () => unreadStatus > 0);
  return { examples: examplesOf(byOutcome), changed, created, reopened };
}

/** The fields that a trial would change, each with its number of rows, those of most rows first. @param changed `changed_fields` of its job */
export function changedByRows(changed: Readonly<Record<string, number>> = {}): (readonly [string, number])[] {
  return Object.entries(changed)
    .filter(([, rows]) => rows > 0)
    .toSorted(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1));
}
