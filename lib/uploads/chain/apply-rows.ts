import type { Clock } from "../../clock.ts";
import { StoreBusyError } from "../../errors.ts";
import type { Organization } from "../../organizations/organization.ts";
import type { ApplyWorkItems } from "../../work-items/apply-work-items.ts";
import type { RowSource } from "../../work-items/applied-rows.ts";
import { CANNOT_BE_APPLIED, type ItemResult } from "../../work-items/pending-input.ts";
import type { WorkItemInput } from "../../work-items/work-item.ts";
import { errorOfRow, type RowReader, type RowReading } from "../csv/row-reader.ts";
import { changesCell } from "../files/changes-cell.ts";
import type { Row } from "../files/frames.ts";
import { failedRow, ROW_CANNOT_BE_APPLIED, type RowResult } from "./row-result.ts";

/**
 * Not all rows could be applied: a request was refused or had no readable response, or time ran out. Rows that were applied
 * are recognized when they are applied again.
 */
export function rowsPending(): StoreBusyError {
  return new StoreBusyError("not all rows could be applied yet");
}

/** Items that are read, planned and written together. This keeps several writes in flight; more would only wait in memory. */
export const ITEMS_AT_ONCE = 100;

/** Cuts rows into groups, each with all rows of its items in file order. @returns the indexes of the rows */
export function groupsOf(externalIds: readonly string[], items: number): number[][] {
  const groups: number[][] = [];
  const groupOfItem = new Map<string, number[]>();
  for (const [index, externalId] of externalIds.entries()) {
    let group = groupOfItem.get(externalId);
    if (group === undefined) {
      if (groupOfItem.size % items === 0) groups.push([]);
      group = groups.at(-1)!;
      groupOfItem.set(externalId, group);
    }
    group.push(index);
  }
  return groups;
}

/** Options of applying rows. */
export interface ApplyRowsOptions {
  /**
   * Reads a row just before it is applied, so that only a few of a window's rows are in memory as work items. Anything it
   * throws is a defect, which fails this row only.
   */
  readonly reader: Pick<RowReader, "externalIdOf" | "read">;
  readonly source: RowSource;
  /** Writes nothing, and returns results only for rows that the job has applied before. @default false */
  readonly recognizesOnly?: boolean;
  /** Milliseconds since the epoch after which no further attempt is made. */
  readonly deadline: number;
  /** Called before writes; throws if this worker may no longer write. @param isRetry whether others write to the items too */
  readonly guard: (isRetry: boolean) => Promise<void>;
  /** Called with what reading a row threw. */
  readonly onDefect?: (row: number, cause: unknown) => void;
}

function resultOf(externalId: string, { id, outcome, changes, error }: ItemResult): RowResult {
  if (error === null) return { externalId, id, outcome, changes: changesCell(changes), changed: changes.fields };
  if (error.problem === CANNOT_BE_APPLIED) return failedRow(externalId);
  return failedRow(externalId, errorOfRow(error.problem.code, error.message));
}

/** Reads a row. If the reader throws, the row fails. */
export function readSafely(row: Row, { reader, onDefect }: Pick<ApplyRowsOptions, "reader" | "onDefect">): RowReading {
  try {
    return reader.read(row.values);
  } catch (cause) {
    onDefect?.(row.row, cause);
    return { error: ROW_CANNOT_BE_APPLIED };
  }
}

/** A row with a valid work item input. */
interface ValidRow {
  /** Of the row in its window. */
  readonly index: number;
  readonly row: number;
  readonly input: WorkItemInput;
}

/**
 * Makes the function that reads and applies rows in file order until each has succeeded or permanently failed. The SDK retries
 * requests that AWS refuses; `optimisticWrite` also retries writes.
 * @returns a function that returns results in the order of the rows. It throws StoreBusyError, and errors of `guard` and
 * requests
 */
export function createApplyRows(apply: ApplyWorkItems, clock: Clock, itemsAtOnce = ITEMS_AT_ONCE) {
  return async (
    organization: Organization,
    rows: readonly Row[],
    options: ApplyRowsOptions,
  ): Promise<readonly (RowResult | undefined)[]> => {
    const { recognizesOnly = false } = options;
    const externalIds = rows.map((row) => options.reader.externalIdOf(row.values));
    const results: (RowResult | undefined)[] = [];
    for (const group of groupsOf(externalIds, itemsAtOnce)) {
      const valid: ValidRow[] = [];
      for (const index of group) {
        if (clock() > options.deadline) throw rowsPending();
        const row = rows[index]!;
        const reading = readSafely(row, options);
        if (!("error" in reading)) valid.push({ index, row: row.row, input: reading.input });
        else if (!recognizesOnly) results[index] = failedRow(externalIds[index]!, reading.error);
      }
      if (valid.length === 0) continue;
      const applied = await apply(organization, valid, { ...options, dryRun: recognizesOnly });
      if (applied.some(({ error }) => error?.permanent === false)) throw rowsPending();
      for (const [at, { index }] of valid.entries()) {
        const result = applied[at]!;
        if (result.recognized || !recognizesOnly) results[index] = resultOf(externalIds[index]!, result);
      }
    }
    return results;
  };
}

/** Applies the rows of a job. */
export type ApplyRows = ReturnType<typeof createApplyRows>;
