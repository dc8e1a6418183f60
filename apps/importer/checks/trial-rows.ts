import type { ResultRow } from "work-items-client/client.ts";
import { isJsonObject } from "@work-items/lib/json.ts";
import { jsonIn, readFirstResults } from "./first-results.ts";

/** How many rows are shown. */
const SHOWN_ROWS = 5;

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
export type TrialCounters = Readonly<Record<(typeof COUNTERS)[TrialOutcome], number>>;

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
  /** Whether an earlier row of the same file creates its item. */
  readonly isOfFile: boolean;
}

/** Examples of what a trial's rows would do. */
export interface TrialRows {
  /** Five rows, with one of each outcome that occurs in the part that was read, in the order of the file. */
  readonly examples: readonly TrialRow[];
  /** The first five rows that would change items that exist. */
  readonly changed: readonly TrialRow[];
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

/** Collects examples. */
class Examples {
  readonly #counters: TrialCounters;
  readonly #byOutcome = new Map<TrialOutcome, TrialRow[]>();
  readonly #created = new Set<string>();
  readonly #changed: TrialRow[] = [];
  #changes = 0;

  constructor(counters: TrialCounters) {
    this.#counters = counters;
  }

  observe(result: ResultRow): void {
    const { row, external_id: externalId, id } = result;
    const outcome = OUTCOMES.find((each) => each === result.outcome);
    if (outcome === undefined) return;
    const isOfFile = this.#created.has(id);
    const isChange = outcome === "updated" || outcome === "restored";
    if (isChange) this.#changes++;
    // Only then an item can be created and changed by the same file.
    if (outcome === "created" && this.#changes < this.#changesMax) this.#created.add(id);
    const known = this.#byOutcome.get(outcome) ?? [];
    const isChanged = isChange && !isOfFile && this.#changed.length < SHOWN_ROWS;
    if (known.length === SHOWN_ROWS && !isChanged) return;
    const shown: TrialRow = { row, externalId, id, outcome, isOfFile, changes: changesIn(result) };
    if (known.length < SHOWN_ROWS) this.#byOutcome.set(outcome, [...known, shown]);
    if (isChanged) this.#changed.push(shown);
  }

  get #changesMax(): number {
    return this.#counters.updated_rows + this.#counters.restored_rows;
  }

  /** Whether later rows could add nothing. */
  get isComplete(): boolean {
    const isFound = (outcome: TrialOutcome): boolean =>
      (this.#byOutcome.get(outcome)?.length ?? 0) >= Math.min(SHOWN_ROWS, this.#counters[COUNTERS[outcome]]);
    return OUTCOMES.every(isFound) && (this.#changed.length === SHOWN_ROWS || this.#changes >= this.#changesMax);
  }

  get rows(): TrialRows {
    const ofEach = OUTCOMES.map((outcome) => this.#byOutcome.get(outcome) ?? []);
    // One of each outcome first, then the second of each.
    const inTurns = Array.from({ length: SHOWN_ROWS }, (_, turn) => ofEach.flatMap((rows) => rows[turn] ?? [])).flat();
    const examples = inTurns.slice(0, SHOWN_ROWS).toSorted((a, b) => a.row - b.row);
    return { examples, changed: this.#changed };
  }
}

/** Reads the results of a trial as far as its examples need. */
export async function readTrialRows(results: AsyncIterable<ResultRow>, counters: TrialCounters): Promise<TrialRows> {
  const examples = new Examples(counters);
  await readFirstResults(results, (row) => {
    examples.observe(row);
    return examples.isComplete;
  });
  return examples.rows;
}

/** The fields that a trial would change, each with its number of rows, those of most rows first. @param changed `changed_fields` of its job */
export function changedByRows(changed: Readonly<Record<string, number>> = {}): (readonly [string, number])[] {
  return Object.entries(changed)
    .filter(([, rows]) => rows > 0)
    .toSorted(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1));
}
