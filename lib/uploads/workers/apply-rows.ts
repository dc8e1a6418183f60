import { backOff } from "../../backoff.ts";
import type { Clock } from "../../clock.ts";
import type { Organization } from "../../organizations/organization.ts";
import type { ApplyWorkItems, RowSource } from "../../work-items/apply-work-items.ts";
import type { RowOutcome } from "../../work-items/upload-mark.ts";
import type { WorkItemInput } from "../../work-items/work-item.ts";
import { errorOfRow, type RowError, type RowReading } from "../csv/row-reader.ts";

/** A row that is read when its turn comes: of a window's rows, few are in memory as work items at the same time. */
export interface UnreadRow {
  /** Number of the row in the file. */
  readonly row: number;
  /** As in the row; empty if it has none. */
  readonly externalId: string;
  readonly text: string;
}

/** A row with a valid work item input. */
interface ValidRow {
  readonly row: number;
  readonly input: WorkItemInput;
}

/** The result of a row: its outcome, its item's id, and the error if it failed for good. */
export interface RowResult {
  readonly outcome: RowOutcome;
  /** Empty if the row failed. */
  readonly id: string;
  readonly error?: RowError;
}

/** The results of one attempt. Pending rows may succeed later. */
interface Attempt {
  readonly results: ReadonlyMap<number, RowResult>;
  readonly pending: readonly ValidRow[];
}

/** The time was too short for all rows. Rows that were applied are recognized when they are applied again. */
export class RowsPendingError extends Error {
  override readonly name: string = "RowsPendingError";
}

const CANNOT_BE_APPLIED: RowResult = {
  outcome: "error",
  id: "",
  error: errorOfRow("invalid", "the row cannot be applied"),
};

/** Whether the row itself causes the error, permanently. Other errors (throttling, network) are temporary. */
const isFaultOfRow = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;

/** Items that are read, planned and written together. More would only wait in memory: this keeps several writes in flight. */
const ITEMS_AT_ONCE = 100;

/** Cuts rows into groups, each with all rows of its items in file order. */
const groupsOf = (rows: readonly UnreadRow[], items: number): UnreadRow[][] => {
  const groups: UnreadRow[][] = [];
  const groupOfItem = new Map<string, UnreadRow[]>();
  for (const row of rows) {
    let group = groupOfItem.get(row.externalId);
    if (group === undefined) {
      if (groupOfItem.size % items === 0) groups.push([]);
      group = groups.at(-1)!;
      groupOfItem.set(row.externalId, group);
    }
    group.push(row);
  }
  return groups;
};

/** Options of applying rows. */
export interface ApplyRowsOptions {
  /** Reads the text of a row. */
  readonly readRow: (text: string) => RowReading;
  readonly source: RowSource;
  /** Milliseconds since the epoch after which no further attempt is made. */
  readonly deadline: number;
  /**
   * Skips the first read of the first hundred items: cheaper if all are new, more expensive otherwise. Each further
   * hundred is assumed to be new if the one before was.
   */
  readonly assumeNew: boolean;
  /** Throws RowsPendingError if this worker must not write any more. */
  readonly guard: () => void;
}

/**
 * Reads and applies rows in file order until each has succeeded or permanently failed.
 * @returns the results by row number
 * @throws RowsPendingError at the deadline, or from `guard`
 */
export const createApplyRows = (apply: ApplyWorkItems, clock: Clock, itemsAtOnce = ITEMS_AT_ONCE) => {
  const attempt = async (
    organization: Organization,
    rows: readonly ValidRow[],
    options: ApplyRowsOptions,
  ): Promise<Attempt> => {
    try {
      const applied = await apply(organization, rows, options);
      const results = new Map<number, RowResult>();
      const pending: ValidRow[] = [];
      rows.forEach((valid, index) => {
        const { outcome, id, error } = applied[index]!;
        if (error === null) results.set(valid.row, { outcome, id });
        else if (error.permanent) {
          results.set(valid.row, { outcome, id: "", error: errorOfRow(error.problem.code, error.message) });
        } else pending.push(valid);
      });
      return { results, pending };
    } catch (error) {
      if (error instanceof RowsPendingError) throw error;
      if (!isFaultOfRow(error)) return { results: new Map(), pending: rows };
      if (rows.length === 1) return { results: new Map([[rows[0]!.row, CANNOT_BE_APPLIED]]), pending: [] };
      const middle = Math.ceil(rows.length / 2);
      const first = await attempt(organization, rows.slice(0, middle), options);
      const rest = rows.slice(middle);
      // Later rows of an external_id must not overtake earlier ones.
      if (first.pending.length > 0) return { ...first, pending: [...first.pending, ...rest] };
      const second = await attempt(organization, rest, options);
      return { results: new Map([...first.results, ...second.results]), pending: second.pending };
    }
  };

  return async (
    organization: Organization,
    rows: readonly UnreadRow[],
    options: ApplyRowsOptions,
  ): Promise<ReadonlyMap<number, RowResult>> => {
    const results = new Map<number, RowResult>();
    let { assumeNew } = options;
    for (const group of groupsOf(rows, itemsAtOnce)) {
      const valid: ValidRow[] = [];
      for (const { row, text } of group) {
        const reading = options.readRow(text);
        if ("error" in reading) results.set(row, { outcome: "error", id: "", error: reading.error });
        else valid.push({ row, input: reading.input });
      }
      let pending: readonly ValidRow[] = valid;
      for (let round = 1; pending.length > 0; round++) {
        // A dry run must know the items: what it writes does not show whether they exist.
        const skipsRead = assumeNew && round === 1 && !options.source.dryRun;
        const attempted = await attempt(organization, pending, { ...options, assumeNew: skipsRead });
        for (const [row, result] of attempted.results) results.set(row, result);
        ({ pending } = attempted);
        if (pending.length === 0) break;
        await backOff(round);
        if (clock() >= options.deadline) throw new RowsPendingError();
      }
      if (valid.length > 0) assumeNew = valid.every(({ row }) => results.get(row)?.outcome === "created");
    }
    return results;
  };
};

/** Applies the rows of a job. */
export type ApplyRows = ReturnType<typeof createApplyRows>;
