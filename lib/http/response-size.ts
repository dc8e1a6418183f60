/**
 * Lambda accepts 6,291,556 bytes of result (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html) as
 * JSON, in which the response's body is a string: its quotes and backslashes count twice. The difference to this limit
 * is reserved for headers and the rest of the body.
 */
const RESPONSE_MAX_BYTES = 5.5 * 1024 * 1024;

/** The only characters of JSON text that are escaped when the text becomes a JSON string. */
const ESCAPED = /["\\]/g;

function lambdaBytes(json: string): number {
  return Buffer.byteLength(json) + (json.match(ESCAPED)?.length ?? 0);
}

/** How many values, counted from the first, fit into one response. @param rest what is in the response beside them */
export function countFitting(values: readonly unknown[], rest: unknown = null): number {
  const restText = JSON.stringify(rest);
  const texts = values.map((value) => JSON.stringify(value));
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, Buffer.byteLength(restText));
  // Nearly always true, and cheap to check: escaping can at most double the size.
  if (2 * bytes <= RESPONSE_MAX_BYTES) return values.length;
  let left = RESPONSE_MAX_BYTES - lambdaBytes(restText);
  const over = texts.findIndex((text) => (left -= lambdaBytes(text) + 1) < 0);
  return over === -1 ? values.length : over;
}
