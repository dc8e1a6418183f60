import { FLAT_WITHIN_MB, runFunctions } from "./run-functions.ts";
import { csvOf } from "./items.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { withEngines } from "./service.ts";
import type { Comparison, Finished } from "./uploads-process.ts";

const { atMost, fact, within } = rowsOf("uploads");
const SIZES = [10_000, 100_000, 1_000_000] as const;
const TEN_ROWS_WITHIN_MS = 1000;
const MAPPED_WITHIN = 1.3;

const comparisonRows = ({ csv, mappedCsv, batch, tenRowsMs }: Comparison): BenchRow[] => [
  fact("CSV rows a second", csv.perSecond, "rows/s"),
  fact("client CPU per 1,000 rows", csv.cpuMs, "ms"),
  fact("rows a second beside items of batches", csv.perSecond / batch.perSecond, "×"),
  fact("client CPU of a row beside an item of a batch", csv.cpuMs / batch.cpuMs, "×"),
  atMost("client CPU per 1,000 rows, with a mapping", mappedCsv.cpuMs, "ms", MAPPED_WITHIN, csv.cpuMs, "without"),
  within("time to completed of a 10-row file", tenRowsMs, "ms", TEN_ROWS_WITHIN_MS),
];

/** Measures the speed of rows with and without a mapping, beside items of batches, the time for a small file, and memory by file size. */
export const measure = (): Promise<BenchRow[]> =>
  withEngines(async () => {
    const rows = comparisonRows(await runFunctions<Comparison>("compare"));
    let smallest: number | undefined;
    for (const size of SIZES) {
      const { succeeded, peakMb, perSecond } = await runFunctions<Finished>("file", csvOf(size));
      if (succeeded !== size) throw new Error(`${succeeded} of ${size} rows were applied`);
      smallest ??= peakMb;
      const at = `at ${size.toLocaleString("en")} rows`;
      rows.push(
        fact(`rows a second ${at}`, perSecond, "rows/s"),
        within(`peak memory ${at}`, peakMb, "MB", smallest + FLAT_WITHIN_MB),
      );
    }
    return rows;
  });
