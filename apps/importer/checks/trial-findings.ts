import { COMMA } from "../../../lib/uploads/csv/delimiter.ts";
import { type IdFindings, RepeatedIds } from "../ids/repeated-ids.ts";
import { type FileRow, observeRows, type RowObserver } from "../files/whole-file.ts";

/** Limit of what is read of a list of results: about 300,000 rows. */
const RESULTS_MAX_BYTES = 24 * 1024 * 1024;
/** Limit of the items that are named. Others are only counted. */
const NAMED_ITEMS = 10;

/** An existing item that a row would change. */
interface ChangedItem {
  readonly row: number;
  readonly externalId: string;
}

/** What the results of a trial run show beyond its counters. */
export interface TrialFindings {
  /** Number of existing items that would change. */
  readonly changedItems: number;
  /** The first of them. */
  readonly changed: readonly ChangedItem[];
  readonly ids: IdFindings;
  /** Whether all results were read. */
  readonly isWhole: boolean;
}

/** Finds the items that existed before the file and would change. Results are row, external_id, id, outcome. */
class ChangedItems implements RowObserver {
  readonly #created = new Set<string>();
  readonly #changed = new Map<string, ChangedItem>();

  observe({ cells: [row, externalId = "", id = "", outcome] }: FileRow): void {
    if (outcome === "created") this.#created.add(id);
    const isChange = outcome === "updated" || outcome === "restored";
    if (!isChange || this.#created.has(id) || this.#changed.has(id)) return;
    this.#changed.set(id, { row: Number(row), externalId });
  }

  get items(): ChangedItem[] {
    return [...this.#changed.values()];
  }
}

/** Reads the results of a trial run, which leave out failed rows. */
export async function readTrialFindings(results: ReadableStream<Uint8Array>): Promise<TrialFindings> {
  const changes = new ChangedItems();
  const ids = new RepeatedIds(([, externalId = "", id]) => (id === "" ? "" : externalId));
  // The first cell is the number of the row in the imported file.
  const ofRow: RowObserver = { observe: ({ cells }) => ids.observe({ row: Number(cells[0]), cells }) };
  const isWhole = await observeRows(results, { delimiter: COMMA, headerRow: 1, bytesMax: RESULTS_MAX_BYTES }, () => [
    changes,
    ofRow,
  ]);
  const { items } = changes;
  return { changedItems: items.length, changed: items.slice(0, NAMED_ITEMS), ids: ids.findings, isWhole };
}
