import { FLAT_WITHIN_MB, runFunctions } from "./run-functions.ts";
import { csvOf } from "./items.ts";
import { type BenchRow, rowsOf } from "./row.ts";
import { withEngines } from "./service.ts";
import type { Undone } from "./uploads-process.ts";

const { atLeast, fact, within } = rowsOf("undo");
const SIZES = [10_000, 100_000] as const;
const UNDO_AT_LEAST = 0.5;

/** The same file with other names of agents: each row changes one field. */
function* withOtherNames(lines: Iterable<string>): Generator<string> {
  for (const chunk of lines) yield chunk.replaceAll(",Agent ", ",Person ");
}

/** Measures the undo of files whose rows all change an item against their import. */
export const measure = (): Promise<BenchRow[]> =>
  withEngines(async () => {
    const rows: BenchRow[] = [];
    let smallest: number | undefined;
    for (const size of SIZES) {
      const { updated, undone } = await runFunctions<Undone>("undo", csvOf(size), withOtherNames(csvOf(size)));
      const at = `at ${size.toLocaleString("en")} rows`;
      smallest ??= undone.peakMb;
      rows.push(
        fact(`updated rows a second ${at}`, updated.perSecond, "rows/s"),
        fact(`undone items a second ${at}`, undone.perSecond, "items/s"),
        atLeast(`undo beside the import ${at}`, undone.perSecond / updated.perSecond, "×", UNDO_AT_LEAST),
        fact(`peak memory before the undo ${at}`, updated.peakMb, "MB"),
        within(`peak memory with the undo ${at}`, undone.peakMb, "MB", smallest + FLAT_WITHIN_MB),
      );
    }
    return rows;
  });
