import type { ScanProgress } from "../../../lib/operator/customer-records.ts";
import type { Terminal } from "../../terminal.ts";
import { withBar } from "../progress.ts";

/** Price of a million read request units in us-east-1 (https://aws.amazon.com/dynamodb/pricing/on-demand/). */
const DOLLARS_PER_MILLION_READ_UNITS = 0.125;

/** What a scan has consumed, in words. */
export function costOf(readUnits: number): string {
  return `${Math.ceil(readUnits)} read units, about $${((readUnits / 1e6) * DOLLARS_PER_MILLION_READ_UNITS).toFixed(4)}`;
}

/** Shows the progress of a scan, whose end isn't known beforehand. */
export async function withScanBar<T>(
  terminal: Terminal,
  label: string,
  scan: (onProgress: (progress: ScanProgress) => void) => Promise<T>,
): Promise<T> {
  const format = `${label}: {value} records read, {cost}, {duration_formatted}`;
  return withBar(terminal, format, { cost: costOf(0) }, (update) =>
    scan(({ scanned, readUnits }) => update(scanned, 0, { cost: costOf(readUnits) })),
  );
}
