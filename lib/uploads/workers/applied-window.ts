import { errorOfRow, type RowError } from "../csv/row-reader.ts";
import { resultLine } from "../files/results.ts";
import { createFrameWriter } from "../files/segment.ts";
import type { Counters } from "../job/upload-record.ts";
import type { RowResult, UnreadRow } from "./apply-rows.ts";

/** What a window adds to its part, in one write. */
export interface AppliedWindow {
  readonly counters: Counters;
  /** Frames with the lines of the window's rows in the job's lists. */
  readonly failures: Buffer;
  readonly results: Buffer;
  /** Whether every valid row created an item. */
  readonly allNew: boolean;
}

/** Never used: every row has a result. */
const NOT_APPLIED = { outcome: "error", id: "", error: errorOfRow("invalid", "") } as const satisfies RowResult;

/** Counts a window's rows and writes their lines. @param toLine makes the line of a failed row */
export function toAppliedWindow(
  rows: readonly UnreadRow[],
  applied: ReadonlyMap<number, RowResult>,
  toLine: (row: number, raw: string, error: RowError) => string,
): AppliedWindow {
  const counters = { created: 0, updated: 0, unchanged: 0, restored: 0 };
  const failures = createFrameWriter();
  const results = createFrameWriter();
  for (const { row, externalId, text } of rows) {
    const { outcome, id, error } = applied.get(row) ?? NOT_APPLIED;
    if (outcome === "error") failures.addText(row, toLine(row, text, error ?? NOT_APPLIED.error));
    else counters[outcome] += 1;
    results.addText(row, resultLine({ row, externalId, id, outcome }));
  }
  const succeeded = counters.created + counters.updated + counters.unchanged + counters.restored;
  return {
    counters: { ...counters, succeeded, failed: rows.length - succeeded },
    failures: failures.bytes(),
    results: results.bytes(),
    allNew: succeeded > 0 && counters.created === succeeded,
  };
}
