import { backOff } from "../../backoff.ts";
import type { Clock } from "../../clock.ts";
import type { Organization } from "../../organizations/organization.ts";
import type { ApplyWorkItems } from "../../work-items/apply-work-items.ts";
import type { WorkItemInput } from "../../work-items/work-item.ts";
import { LeaseLostError } from "../job/upload-store.ts";

export interface ValidRow {
  readonly row: number;
  readonly input: WorkItemInput;
}

/** What became of rows. */
export interface AppliedRows {
  /** The reasons of those that failed for good, by row. */
  readonly failed: ReadonlyMap<number, string>;
  /** How many made an item. */
  readonly created: number;
}

/** What became of rows in one attempt; those that are pending may succeed later. */
interface Outcome extends AppliedRows {
  readonly pending: readonly ValidRow[];
}

/** Time did not suffice for all rows; those that were applied are known again when they come once more. */
export class RowsPendingError extends Error {}

const CANNOT_BE_APPLIED = "the row cannot be applied";

/** The row itself is what the code or the store cannot take. All else (throttling, network) passes. */
const isFaultOfRow = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;

export interface ApplyRowsOptions {
  readonly job: string;
  /** Milliseconds since the epoch when the rest is left for later. */
  readonly deadline: number;
  /** Nothing is read first: right for rows whose items are all new, dear for others. */
  readonly assumeNew: boolean;
  /** Throws where this worker must not write any more. */
  readonly guard: () => void;
}

/**
 * Applies rows in their order until each has succeeded or failed for good.
 * @throws RowsPendingError where the deadline comes first, and what `guard` throws
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

export type ApplyRows = ReturnType<typeof createApplyRows>;
