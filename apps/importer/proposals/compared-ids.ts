import { IdTable } from "../ids/id-table.ts";
import { type FileRow, type IdFindings, RepeatedIds } from "../ids/repeated-ids.ts";
import { isEmptyWord } from "./empty-words.ts";
import { idCandidates } from "./id-candidates.ts";

/** Compares the values of several columns together in all rows, until they repeat. */
class CombinedIds {
  /** Undefined once they have repeated. */
  columns: readonly number[] | undefined;
  readonly #table = new IdTable();

  constructor(columns: readonly number[] | undefined) {
    this.columns = columns;
  }

  observe({ row, cells }: FileRow): void {
    const texts = this.columns?.map((index) => (cells[index] ?? "").trim());
    if (texts === undefined) return;
    const isRepeated = this.#table.firstRow(JSON.stringify(texts), row) !== undefined || !this.#table.isComplete;
    if (isRepeated || texts.every((text) => text === "")) this.columns = undefined;
  }
}

/** Compares the values of columns that may hold IDs in all rows. */
export class ComparedIds {
  readonly #named: ReadonlyMap<number, RepeatedIds>;
  /** Only asked whether they repeat: then they aren't IDs, and aren't compared further. */
  readonly #distinct: Map<number, RepeatedIds>;
  readonly combined: CombinedIds;

  constructor(names: readonly string[], rows: readonly (readonly string[])[]) {
    const { named, distinct, combined } = idCandidates(names, rows);
    const idsAt = (index: number): readonly [number, RepeatedIds] => [
      index,
      new RepeatedIds((cells) => idIn(cells[index])),
    ];
    this.#named = new Map(named.map(idsAt));
    this.#distinct = new Map(distinct.map(idsAt));
    this.combined = new CombinedIds(combined);
  }

  observe(row: FileRow): void {
    for (const ids of this.#named.values()) ids.observe(row);
    for (const [index, ids] of this.#distinct) {
      ids.observe(row);
      if (ids.hasRepeated) this.#distinct.delete(index);
    }
    this.combined.observe(row);
  }

  result(): ReadonlyMap<number, IdFindings> {
    return new Map([...this.#named, ...this.#distinct].map(([index, ids]) => [index, ids.findings]));
  }
}

/** The ID in a cell, without words that mean an empty value. */
function idIn(cell = ""): string {
  return isEmptyWord(cell.trim()) ? "" : cell;
}
