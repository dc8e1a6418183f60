import { Presets, SingleBar } from "cli-progress";
import type { ScanProgress } from "../../../lib/operator/customer-records.ts";

/** Price of a million read request units on demand in us-east-1 (https://aws.amazon.com/dynamodb/pricing/on-demand/). */
const DOLLARS_PER_MILLION_READ_UNITS = 0.125;

/** What a scan has consumed, in words. */
export const costOf = (readUnits: number): string =>
  `${Math.ceil(readUnits)} read units, about $${((readUnits / 1e6) * DOLLARS_PER_MILLION_READ_UNITS).toFixed(4)}`;

/** A progress bar of a scan, whose end nobody knows before. It is shown in a terminal only. */
export const scanBar = (label: string) => {
  const bar = new SingleBar(
    { format: `${label}: {value} records read, {cost}, {duration_formatted}`, hideCursor: true },
    Presets.legacy,
  );
  bar.start(0, 0, { cost: costOf(0) });
  return {
    update: ({ scanned, readUnits }: ScanProgress): void => bar.update(scanned, { cost: costOf(readUnits) }),
    stop: (): void => bar.stop(),
  };
};
