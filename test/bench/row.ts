/** One measured number. */
export interface BenchRow {
  readonly section: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What `value` is compared with; null where it stands for itself. */
  readonly floor: number | null;
  /** `value` ÷ `floor`. */
  readonly ratio: number | null;
  /** What is to hold, in words; null where the number is for information. */
  readonly goal: string | null;
  readonly holds: boolean | null;
}

/** A number for information. */
export const factOf = (row: Pick<BenchRow, "section" | "name" | "value" | "unit">): BenchRow => ({
  ...row,
  floor: null,
  ratio: null,
  goal: null,
  holds: null,
});
