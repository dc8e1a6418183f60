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
const factOf = (row: Pick<BenchRow, "section" | "name" | "value" | "unit">): BenchRow => ({
  ...row,
  floor: null,
  ratio: null,
  goal: null,
  holds: null,
});

/** Makes the rows of one section. */
export const rowsOf = (section: string) => ({
  fact: (name: string, value: number, unit: string): BenchRow => factOf({ section, name, value, unit }),
  /** A number that should be at most `times` the floor. @param of what the floor is */
  atMost: (name: string, value: number, unit: string, times: number, floor: number, of: string): BenchRow => ({
    ...factOf({ section, name, value, unit }),
    floor,
    ratio: value / floor,
    goal: `≤ ${times} × ${of}`,
    holds: value <= times * floor,
  }),
  /** A number that should be at most another one. */
  within: (name: string, value: number, unit: string, max: number): BenchRow => ({
    ...factOf({ section, name, value, unit }),
    goal: `≤ ${max} ${unit}`,
    holds: value <= max,
  }),
  /** A number that should be at least another one. */
  atLeast: (name: string, value: number, unit: string, min: number): BenchRow => ({
    ...factOf({ section, name, value, unit }),
    goal: `≥ ${min}`,
    holds: value >= min,
  }),
  /** A number that should be exactly another one. */
  exactly: (name: string, value: number, unit: string, expected: number): BenchRow => ({
    ...factOf({ section, name, value, unit }),
    goal: `${expected}`,
    holds: Math.abs(value - expected) < 0.005,
  }),
});
