import { IdTable } from "../ids/id-table.ts";
import { type FileRow, type IdFindings, RepeatedIds } from "../ids/repeated-ids.ts";
import { isEmptyWord } from "./empty-words.ts";
import { idCandidates } from "./id-candidates.ts";

/** Compares combinations of columns in all rows, until they repeat. */
class CombinedIds {
  #left: { readonly indexes: readonly number[]; readonly table: IdTable }[];

  constructor(combined: readonly (readonly number[])[]) {
    this.#left = combined.map((indexes) => ({ indexes, table: new IdTable() }));
  }

  observe({ row, cells }: FileRow): void {
    const repeated = this.#left.filter(({ indexes, table }) => {
      const texts = indexes.map((index) => (cells[index] ?? "").trim());
      if (texts.every((text) => text === "")) return true;
      return table.firstRow(JSON.stringify(texts), row) !== undefined || !table.isComplete;
    });
    if (repeated.length > 0) this.#left = this.#left.filter((each) => !repeated.includes(each));
  }

  result(): readonly number[] | undefined {
    return this.#left[0]?.indexes;
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
