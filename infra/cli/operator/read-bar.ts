import type { ReadProgress } from "../../../lib/operator/metered-reads.ts";
import type { Terminal } from "../../terminal.ts";
import { withBar } from "../progress.ts";

/** Price of a million read request units in us-east-1 (https://aws.amazon.com/dynamodb/pricing/on-demand/). */
const DOLLARS_PER_MILLION_READ_UNITS = 0.125;

/** What reads have consumed, in words. */
export function costOf(readUnits: number): string {
  return `${Math.ceil(readUnits)} read units, about $${((readUnits / 1e6) * DOLLARS_PER_MILLION_READ_UNITS).toFixed(4)}`;
}

/** Shows the progress of reads, whose end isn't known beforehand. */
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
