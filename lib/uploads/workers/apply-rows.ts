import type { Clock } from "../../clock.ts";
import type { Organization } from "../../organizations/organization.ts";
import type { RowSource } from "../../work-items/applied-rows.ts";
import { CANNOT_BE_APPLIED } from "../../work-items/apply-targets.ts";
import type { ApplyResult, ApplyWorkItems } from "../../work-items/apply-work-items.ts";
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

/**
 * Why rows are still to be applied: a request was refused, or had no response that can be read; or all requests were answered,
 * and the time was too short.
 */
export type PendingReason = "refused" | "time";

/** Not all rows of a window could be applied. Those that were are recognized when they are applied again. */
export class RowsPendingError extends Error {
  override readonly name: string = "RowsPendingError";
  readonly reason: PendingReason;
  /** Number of the window's first row in the file, and how many rows the window has. */
  readonly firstRow: number;
  readonly count: number;

  constructor(reason: PendingReason, rows: readonly Pick<UnreadRow, "row">[]) {
    super(reason);
    this.reason = reason;
    this.firstRow = rows[0]?.row ?? 0;
    this.count = rows.length;
  }
}

const ROW_CANNOT_BE_APPLIED = errorOfRow("invalid", "the row cannot be applied");

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
   * hundred is assumed to be new if the one before was. This decides about costs only: an item that exists is read, with
   * the events of its rows, before a row is planned on it.
   */
  readonly assumeNew: boolean;
  /** Throws RowsPendingError if this worker must not write any more. @param reason why rows are pending then */
  readonly guard: (reason: PendingReason) => void;
  /** Called with what reading a row has thrown: a defect, which fails this row only. */
  readonly onDefect?: (row: number, cause: unknown) => void;
}

const failed = (error: RowError): RowResult => ({ outcome: "error", id: "", error });

const resultOf = ({ outcome, id, error }: ApplyResult): RowResult => {
  if (error === null) return { outcome, id };
  if (error.problem === CANNOT_BE_APPLIED) return failed(ROW_CANNOT_BE_APPLIED);
  return failed(errorOfRow(error.problem.code, error.message));
};

const readSafely = ({ row, text }: UnreadRow, { readRow, onDefect }: ApplyRowsOptions): RowReading => {
  try {
    return readRow(text);
  } catch (cause) {
    onDefect?.(row, cause);
    return { error: ROW_CANNOT_BE_APPLIED };
  }
};

/**
 * Reads and applies rows in file order until each has succeeded or permanently failed. A request that AWS refuses is tried
 * again by the SDK, a write also by `optimisticWrite`, and then by the next attempt of the whole window.
 * @returns the results by row number
 * @throws RowsPendingError, also from `guard`, and errors of requests
 */
export const createApplyRows =
  (apply: ApplyWorkItems, clock: Clock, itemsAtOnce = ITEMS_AT_ONCE) =>
  async (
    organization: Organization,
    rows: readonly UnreadRow[],
    options: ApplyRowsOptions,
  ): Promise<ReadonlyMap<number, RowResult>> => {
    const results = new Map<number, RowResult>();
    let { assumeNew } = options;
    let reason: PendingReason = "time";
    const onRefused = (): void => {
      reason = "refused";
    };
    const guard = (): void => options.guard(reason);
    for (const group of groupsOf(rows, itemsAtOnce)) {
      const valid: ValidRow[] = [];
      for (const unread of group) {
        if (clock() > options.deadline) throw new RowsPendingError(reason, rows);
        const reading = readSafely(unread, options);
        if ("error" in reading) results.set(unread.row, failed(reading.error));
        else valid.push({ row: unread.row, input: reading.input });
      }
      if (valid.length === 0) continue;
      // A dry run must know the items: what it writes does not show whether they exist.
      const skipsRead = assumeNew && !options.source.dryRun;
      const applied = await apply(organization, valid, { ...options, assumeNew: skipsRead, guard, onRefused });
      const isPending = applied.some(({ error }) => error?.permanent === false);
      if (isPending) throw new RowsPendingError(reason, rows);
      for (const [index, { row }] of valid.entries()) results.set(row, resultOf(applied[index]!));
      assumeNew = applied.every(({ outcome }) => outcome === "created");
    }
    return results;
  };

/** Applies the rows of a job. */
export type ApplyRows = ReturnType<typeof createApplyRows>;
