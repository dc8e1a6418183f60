import { withBar } from "@work-items/cli/progress-bar.ts";
import { countOf, type Terminal } from "@work-items/terminal/terminal.ts";
import type { ReadProgress } from "../data/metered-reads.ts";

/** What reads have consumed, in words. */
export function costOf(readUnits: number): string {
  return countOf(Math.ceil(readUnits), "read unit");
}

/** Shows the progress of reads, whose total isn't known in advance. */
export async function withReadBar<T>(
  terminal: Terminal,
  label: string,
  work: (onProgress: (progress: ReadProgress) => void) => Promise<T>,
): Promise<T> {
  const format = `${label}: {value} records read, {cost}, {duration_formatted}`;
  return withBar(terminal, format, { cost: costOf(0) }, (update) =>
    work(({ scanned, readUnits }) => update(scanned, 0, { cost: costOf(readUnits) })),
  );
}
