/** One measured number. */
export interface BenchRow {
  readonly section: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The value that `value` is compared with; null if there is none. */
  readonly floor: number | null;
  /** `value` ÷ `floor`. */
  readonly ratio: number | null;
  /** The goal in words; null if the number is only for information. */
  readonly goal: string | null;
  readonly holds: boolean | null;
}

/** A number without a goal. */
export const factOf = (row: Pick<BenchRow, "section" | "name" | "value" | "unit">): BenchRow => ({
  ...row,
  floor: null,
  ratio: null,
  goal: null,
  holds: null,
});
