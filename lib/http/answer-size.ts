/** Lambda answers at most 6 MB; 5 leave room for the envelope and its escaping. */
export const ANSWER_MAX_BYTES = 5 * 1024 * 1024;

export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** How many of the values, from the first on, fit an answer together. */
export const countFitting = (values: readonly unknown[], budget = ANSWER_MAX_BYTES): number => {
  let left = budget;
  const over = values.findIndex((value) => (left -= jsonBytes(value) + 1) < 0);
  return over === -1 ? values.length : over;
};
