import { columnIndex, comparable } from "@work-items/lib/uploads/csv/header-names.ts";
import type { Source } from "@work-items/lib/uploads/mapping/mapping.ts";
import { IdTable } from "../ids/id-table.ts";
import { type IdFindings, RepeatedIds } from "../ids/repeated-ids.ts";
import { isEmptyWord } from "./empty-words.ts";
import { idCandidates } from "./id-candidates.ts";

interface Row {
  readonly row: number;
  readonly cells: readonly string[];
}

/** Compares combinations of columns in all rows, until they repeat. */
class CombinedIds {
  #left: { readonly indexes: readonly number[]; readonly table: IdTable }[];

  constructor(combined: readonly (readonly number[])[]) {
    this.#left = combined.map((indexes) => ({ indexes, table: new IdTable() }));
  }

  observe({ row, cells }: Row): void {
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

  observe(row: Row): void {
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

/** A file that has been read, without the rows that are left out. */
interface ReadFile {
  readonly names: readonly string[];
  readonly survey: {
    readonly ids: ReadonlyMap<number, IdFindings>;
    readonly totals: readonly unknown[];
    readonly columns: readonly { readonly emptyWords: ReadonlyMap<string, number> }[];
  };
  readonly leftOut?: ReadonlySet<number>;
}

/**
 * What the survey of a file showed about the IDs in a column; undefined if it didn't compare exactly those.
 * @param empty the texts that are empty in every column
 */
export function comparedIds(
  { names, survey, leftOut }: ReadFile,
  { column, values = {}, ...others }: Source,
  empty: readonly string[] = [],
): IdFindings | undefined {
  if (column === undefined || Object.keys(others).length > 0) return undefined;
  const index = columnIndex(names, column);
  const emptied = new Set([...empty, ...Object.keys(values)].map(comparable));
  const isEmptied = Object.values(values).every((value) => value === "") && [...emptied].every(isEmptyWord);
  const words = [...(survey.columns[index]?.emptyWords.keys() ?? [])];
  const isSame = survey.totals.length === (leftOut?.size ?? 0) && words.every((word) => emptied.has(comparable(word)));
  const findings = survey.ids.get(index);
  return isEmptied && isSame && findings?.isComplete === true ? findings : undefined;
}
