/** Cuts a list into chunks of at most `size` values, in order. */
export const chunksOf = <T>(values: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, index) => values.slice(index * size, (index + 1) * size));

/** Maps values with at most `concurrency` calls at the same time. The results are in the order of the values. */
export const mapConcurrently = async <T, R>(
  values: readonly T[],
  concurrency: number,
  map: (value: T) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < values.length) {
      const index = next++;
      results[index] = await map(values[index] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, values.length) }, work));
  return results;
};
