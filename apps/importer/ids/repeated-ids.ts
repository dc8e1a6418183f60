import { problemsOfMapping } from "@work-items/lib/uploads/mapping/check-mapping.ts";
import { mappedReader } from "@work-items/lib/uploads/mapping/mapped-columns.ts";
import type { Mapping } from "@work-items/lib/uploads/mapping/mapping.ts";
import { InvalidFileError } from "@work-items/lib/uploads/csv/invalid-file-error.ts";
import { idColumn } from "./clean-ids.ts";
import { IdForms, type IdJudgement, NOT_JUDGED } from "./id-forms.ts";
import { IdTable } from "./id-table.ts";
import { looksOf } from "./look-alikes.ts";

/** Limit of the IDs that are named. Others are only counted. */
const NAMED_IDS = 10;

/** A row of a file. */
export interface FileRow {
  /** Its number as in a spreadsheet: blank lines count. */
  readonly row: number;
  readonly cells: readonly string[];
}

/** An ID that more than one row has. */
export interface RepeatedId {
  readonly externalId: string;
  readonly firstRow: number;
  /** The first row that repeats it. */
  readonly row: number;
}

/** An ID that looks like another one but is a different item. */
export interface OddId {
  readonly row: number;
  readonly externalId: string;
  /** What is odd about it: "spaces around it", "other characters than the ID in row 3, but looks the same". */
  readonly oddity: string;
}

/** What is known about the IDs of a file. */
export interface IdFindings extends IdJudgement {
  /** Number of rows whose ID is also in an earlier row. */
  readonly repeatedRows: number;
  /** The first repeated IDs. */
  readonly repeated: readonly RepeatedId[];
  /** Number of rows whose ID has outer spaces or invisible characters, or looks like another one. */
  readonly oddRows: number;
  /** The first such IDs. */
  readonly odd: readonly OddId[];
  /** Number of rows whose ID has outer spaces, which `trim` in its source removes. */
  readonly spacedRows: number;
  /** Whether every row was compared with all earlier ones. */
  readonly isComplete: boolean;
}

/** The findings before any ID was compared. */
export const NOT_COMPARED: IdFindings = {
  ...NOT_JUDGED,
  repeatedRows: 0,
  repeated: [],
  oddRows: 0,
  odd: [],
  spacedRows: 0,
  isComplete: false,
};

/** Invisible characters (soft hyphens, zero-width spaces, direction marks) and white space other than a space. */
const INVISIBLE = /\p{Cc}|\p{Cf}|\p{Default_Ignorable_Code_Point}|[^\S ]/u;

/** What outer spaces are called among the oddities of IDs. */
const SPACED = "spaces around it";

/** What makes an ID look like another one; undefined if nothing does. */
function oddityOf(id: string): string | undefined {
  if (id.trim() !== id) return SPACED;
  const [invisible] = INVISIBLE.exec(id) ?? [];
  if (invisible === undefined) return undefined;
  const code = invisible.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
  return `a character that can't be seen (U+${code})`;
}

/** Finds repeated IDs, and IDs that look like another one. */
export class RepeatedIds {
  readonly #idOf: (cells: readonly string[]) => string;
  readonly #cellOf: (cells: readonly string[]) => string;
  readonly #table: IdTable;
  /** The looks of IDs that have other looks than themselves. */
  readonly #looks: IdTable;
  readonly #forms = new IdForms();
  readonly #named = new Map<string, RepeatedId>();
  readonly #odd: OddId[] = [];
  #repeatedRows = 0;
  #oddRows = 0;
  #spacedRows = 0;

  /**
   * @param idOf the ID of a row; empty if it has none
   * @param cellOf the cell that is judged, where IDs are made of it
   * @param idsMax limit of the different IDs that are compared
   */
  constructor(idOf: (cells: readonly string[]) => string, cellOf = idOf, idsMax?: number) {
    this.#idOf = idOf;
    this.#cellOf = cellOf;
    this.#table = new IdTable(idsMax);
    this.#looks = new IdTable(idsMax);
  }

  observe({ row, cells }: FileRow): void {
    const externalId = this.#idOf(cells);
    if (externalId === "") return;
    this.#forms.observe(this.#cellOf(cells));
    const firstRow = this.#table.firstRow(externalId, row);
    const twin = firstRow === undefined ? this.#twinOf(externalId, row) : undefined;
    this.#noteOddity(row, externalId, twin);
    if (firstRow === undefined) return;
    this.#repeatedRows += 1;
    if (this.#named.size === NAMED_IDS || this.#named.has(externalId)) return;
    // Doubtful rows are observed late.
    this.#named.set(externalId, { externalId, firstRow: Math.min(firstRow, row), row: Math.max(firstRow, row) });
  }

  /** The row of another ID that looks like a new one. */
  #twinOf(externalId: string, row: number): number | undefined {
    if (externalId.trim() !== externalId) return undefined;
    const looks = looksOf(externalId);
    if (looks === externalId) return this.#looks.rowOf(externalId);
    return this.#table.rowOf(looks) ?? this.#looks.firstRow(looks, row);
  }

  #noteOddity(row: number, externalId: string, twin: number | undefined): void {
    const oddity =
      oddityOf(externalId) ??
      (twin === undefined ? undefined : `other characters than the ID in row ${twin}, but looks the same`);
    if (oddity === undefined) return;
    this.#oddRows += 1;
    if (oddity === SPACED) this.#spacedRows += 1;
    if (this.#odd.length < NAMED_IDS) this.#odd.push({ row, externalId, oddity });
  }

  get hasRepeated(): boolean {
    return this.#repeatedRows > 0;
  }

  get findings(): IdFindings {
    return {
      ...this.#forms.judgement,
      repeatedRows: this.#repeatedRows,
      repeated: [...this.#named.values()],
      oddRows: this.#oddRows,
      odd: this.#odd,
      spacedRows: this.#spacedRows,
      isComplete: this.#table.isComplete,
    };
  }
}

/**
 * Makes the observer of the IDs that a mapping makes.
 * @param names cells of the header
 * @returns undefined if the mapping makes no IDs, or if it doesn't fit the header
 */
export function idsOf({ fields, empty }: Mapping, names: readonly string[]): RepeatedIds | undefined {
  const { external_id: source } = fields ?? {};
  if (source === undefined) return undefined;
  const own: Mapping = { fields: { external_id: source }, others: "ignore", ...(empty && { empty }) };
  if (problemsOfMapping(own).length > 0) return undefined;
  try {
    const reader = mappedReader(own, names);
    const idOf = (cells: readonly string[]): string => (reader.isEmpty(cells) ? "" : reader.externalIdOf(cells));
    const column = idColumn({ fields }, names);
    return new RepeatedIds(idOf, column === -1 ? idOf : (cells) => cells[column] ?? "");
  } catch (error) {
    // The service reports what is wrong.
    if (error instanceof InvalidFileError) return undefined;
    throw error;
  }
}

/**
 * What a file shows about the IDs that a mapping makes; undefined where `idsOf` is. Reads it to its end.
 * @param read shows all rows to observers, as `observeRows` does
 */
export async function readIds(
  read: (begin: (names: readonly string[]) => readonly RepeatedIds[]) => Promise<boolean>,
  mapping: Mapping,
): Promise<IdFindings | undefined> {
  let ids: RepeatedIds | undefined;
  const isWhole = await read((names) => {
    ids = idsOf(mapping, names);
    return ids ? [ids] : [];
  });
  const findings = ids?.findings;
  return findings && { ...findings, isComplete: findings.isComplete && isWhole };
}
