/** The middle one of some values, in order. */
export const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

/** Rounds in which each way is measured; the median of them counts. */
const ROUNDS = 7;

/** CPU milliseconds of this process for one call of `run`, awaited one after the other. */
const cpuOf = async (calls: number, run: () => Promise<unknown>): Promise<number> => {
  const start = process.cpuUsage();
  for (let call = 0; call < calls; call++) await run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000 / calls;
};

/**
 * Measures several ways of doing the same, in turns, so that whatever else the machine does meets all of them.
 * @returns median CPU milliseconds of one call, by way
 */
export const compareCpu = async <N extends string>(
  ways: Readonly<Record<N, () => Promise<unknown>>>,
  options: { readonly calls: number; readonly warmUp?: number },
): Promise<Record<N, number>> => {
  const { calls, warmUp = calls } = options;
  const names = Object.keys(ways) as N[];
  const found = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<N, number[]>;
  for (const name of names) await cpuOf(warmUp, ways[name]);
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of names) found[name].push(await cpuOf(calls, ways[name]));
  }
  return Object.fromEntries(names.map((name) => [name, medianOf(found[name])])) as Record<N, number>;
};
