import type { RowError } from "../csv/row-reader.ts";
import { resultLine } from "../files/results.ts";
import { FrameWriter, type Row } from "../files/frames.ts";
import type { Counters } from "../job/upload-record.ts";
import type { RowResult } from "./apply-rows.ts";

/** What a window adds to its bucket, in one write. */
export interface AppliedWindow {
  readonly counters: Counters;
  /** Frames with the lines of the window's rows in the job's lists. */
  readonly failures: Buffer;
  readonly results: Buffer;
  /** Whether every valid row created an item. */
  readonly allNew: boolean;
}

/** Counts a window's rows that have results, and writes their lines. @param toLine makes the line of a failed row */
export function toAppliedWindow(
  rows: readonly Row[],
  applied: readonly (RowResult | undefined)[],
  toLine: (row: Row, error: RowError) => string,
): AppliedWindow {
  const counters = { created: 0, updated: 0, unchanged: 0, restored: 0, error: 0 };
  const failures = new FrameWriter();
  const results = new FrameWriter();
  for (const [place, row] of rows.entries()) {
    const result = applied[place];
    if (result === undefined) continue;
    counters[result.outcome] += 1;
    if (result.error) failures.addText(row.row, toLine(row, result.error));
    results.addText(row.row, resultLine(row, result));
  }
  const { error: failed, ...byOutcome } = counters;
  const succeeded = byOutcome.created + byOutcome.updated + byOutcome.unchanged + byOutcome.restored;
  return {
    counters: { ...byOutcome, succeeded, failed },
    failures: failures.bytes(),
    results: results.bytes(),
    allNew: succeeded > 0 && counters.created === succeeded,
  };
}
