import { cellsOf, recordsIn } from "../../lib/uploads/csv/csv-text.ts";

/** So much of a list of results is read: some 300,000 rows. */
const RESULTS_MAX_BYTES = 24 * 1024 * 1024;
/** More rows are counted, but not named. */
const NAMED_ROWS = 100;

/** A row whose ID is also in an earlier row. */
interface RepeatedRow {
  readonly row: number;
  readonly externalId: string;
  readonly firstRow: number;
}

/** What a trial run of a file says beyond its counters. */
export interface TrialFindings {
  /** Items that exist and would change. */
  readonly changedItems: number;
  /** Number of rows whose ID is also in an earlier row. */
  readonly repeatedRows: number;
  /** The first of them. */
  readonly repeated: readonly RepeatedRow[];
}

/** The beginning of a list, as text that ends with a row. */
async function readBeginning(list: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  const reader = list.getReader();
  let text = "";
  let bytes = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    text += decoder.decode(read.value, { stream: true });
    bytes += read.value.length;
    if (bytes < RESULTS_MAX_BYTES) continue;
    await reader.cancel();
    return text.slice(0, text.lastIndexOf("\n") + 1);
  }
  return text;
}

/** Reads the results of a trial run. Rows that failed change nothing and are left out. */
export async function readTrialFindings(results: ReadableStream<Uint8Array>): Promise<TrialFindings> {
  const items = new Map<string, { readonly row: number; readonly isNew: boolean; isChanged: boolean }>();
  const repeated: RepeatedRow[] = [];
  let repeatedRows = 0;
  const [, ...records] = recordsIn(await readBeginning(results));
  for (const record of records) {
    const [number, externalId = "", id = "", outcome] = cellsOf(record, ",");
    const row = Number(number);
    if (id === "") continue;
    const isChange = outcome === "updated" || outcome === "restored";
    const first = items.get(id);
    if (first === undefined) {
      items.set(id, { row, isNew: outcome === "created", isChanged: isChange });
      continue;
    }
    first.isChanged ||= isChange;
    repeatedRows++;
    if (repeated.length < NAMED_ROWS) repeated.push({ row, externalId, firstRow: first.row });
  }
  const changedItems = [...items.values()].filter(({ isNew, isChanged }) => !isNew && isChanged).length;
  return { changedItems, repeatedRows, repeated };
}
