/**
 * Lambda takes 6 MB of result (6,291,556 bytes, https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html)
 * and counts it as JSON, in which the response's body is a string: its quotes and backslashes count twice. What remains
 * above this limit is for headers and the envelope.
 */
export const RESPONSE_MAX_BYTES = 5.5 * 1024 * 1024;

/** JSON holds no other characters that are escaped when it becomes a string in JSON. */
const ESCAPED = /["\\]/g;

const lambdaBytes = (json: string): number => Buffer.byteLength(json) + (json.match(ESCAPED)?.length ?? 0);

/** Bytes of a value in a response, as Lambda counts them. */
export const responseBytes = (value: unknown): number => lambdaBytes(JSON.stringify(value));

/** How many of the values, from the first on, fit a response together. @param budget bytes as Lambda counts them */
export const countFitting = (values: readonly unknown[], budget = RESPONSE_MAX_BYTES): number => {
  const texts = values.map((value) => JSON.stringify(value));
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
  // Nearly always: what is escaped can at most double.
  if (2 * bytes <= budget) return values.length;
  let left = budget;
  const over = texts.findIndex((text) => (left -= lambdaBytes(text) + 1) < 0);
  return over === -1 ? values.length : over;
};
