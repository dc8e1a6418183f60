import { backOff } from "../../backoff.ts";
import type { Clock } from "../../clock.ts";
import type { Organization } from "../../organizations/organization.ts";
import type { ApplyWorkItems } from "../../work-items/apply-work-items.ts";
import type { WorkItemInput } from "../../work-items/work-item.ts";
import { LeaseLostError } from "../job/upload-store.ts";

/** A row with a valid work item input. */
export interface ValidRow {
  /** Number of the row in the file. */
  readonly row: number;
  readonly input: WorkItemInput;
}

/** The results of applied rows. */
export interface AppliedRows {
  /** Reasons of permanent failures, by row number. */
  readonly failed: ReadonlyMap<number, string>;
  /** Number of rows that created an item. */
  readonly created: number;
}

/** The results of one attempt. Pending rows may succeed later. */
interface Outcome extends AppliedRows {
  readonly pending: readonly ValidRow[];
}

/** The time was too short for all rows. Rows that were applied are recognized when they are applied again. */
export class RowsPendingError extends Error {}

const CANNOT_BE_APPLIED = "the row cannot be applied";

/** Whether the row itself causes the error, permanently. Other errors (throttling, network) are temporary. */
const isFaultOfRow = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;

/** Options of applying rows. */
export interface ApplyRowsOptions {
  /** Id of the job. */
  readonly job: string;
  /** Milliseconds since the epoch after which no further attempt is made. */
  readonly deadline: number;
  /** Skips the first read of the items: cheaper if all items are new, more expensive otherwise. */
  readonly assumeNew: boolean;
  /** Throws if this worker must not write any more. */
  readonly guard: () => void;
}

/**
 * Applies rows in file order until each has succeeded or permanently failed.
 * @throws RowsPendingError at the deadline, and errors of `guard`
 */
export const createApplyRows = (apply: ApplyWorkItems, clock: Clock) => {
  const attempt = async (
    organization: Organization,
    rows: readonly ValidRow[],
    options: ApplyRowsOptions,
  ): Promise<Outcome> => {
    const { job: uploadJob, ...applyOptions } = options;
    try {
      const results = await apply(organization, rows, { uploadJob, ...applyOptions });
      return {
        created: results.filter(({ outcome }) => outcome === "created").length,
        failed: new Map(
          rows.flatMap(({ row }, index) => {
            const error = results[index]?.error;
            return error?.permanent ? [[row, error.message]] : [];
          }),
        ),
        pending: rows.filter((_, index) => results[index]?.error?.permanent === false),
      };
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      if (!isFaultOfRow(error)) return { failed: new Map(), created: 0, pending: rows };
      if (rows.length === 1) return { failed: new Map([[rows[0]!.row, CANNOT_BE_APPLIED]]), created: 0, pending: [] };
      const middle = Math.ceil(rows.length / 2);
      const first = await attempt(organization, rows.slice(0, middle), options);
      const rest = rows.slice(middle);
      // Later rows of an external_id must not overtake earlier ones.
      if (first.pending.length > 0) return { ...first, pending: [...first.pending, ...rest] };
      const second = await attempt(organization, rest, options);
      return {
        failed: new Map([...first.failed, ...second.failed]),
        created: first.created + second.created,
        pending: second.pending,
      };
    }
  };

  return async (
    organization: Organization,
    rows: readonly ValidRow[],
    options: ApplyRowsOptions,
  ): Promise<AppliedRows> => {
    const failed = new Map<number, string>();
    let created = 0;
    let pending = rows;
    for (let round = 1; pending.length > 0; round++) {
      const outcome = await attempt(organization, pending, {
        ...options,
        assumeNew: options.assumeNew && round === 1,
      });
      for (const [row, reason] of outcome.failed) failed.set(row, reason);
      created += outcome.created;
      ({ pending } = outcome);
      if (pending.length === 0) break;
      await backOff(round);
      if (clock() >= options.deadline) throw new RowsPendingError();
    }
    return { failed, created };
  };
};

/** Applies the rows of a job. */
export type ApplyRows = ReturnType<typeof createApplyRows>;
