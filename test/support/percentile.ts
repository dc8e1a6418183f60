/** The value below which a share of some numbers lies; 0 if there are none. */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

/** The middle one of some numbers. */
export const medianOf = (values: readonly number[]): number => percentile(values, 0.5);
