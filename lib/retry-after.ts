/** HTTP's date, and the two obsolete forms (RFC 9110 §5.6.7). All are in GMT, although the last doesn't say so. */
const HTTP_DATES = [
  /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^\w{6,9}, \d\d-\w{3}-\d\d \d\d:\d\d:\d\d GMT$/,
  /^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
];

function timeOf(date: string): number {
  if (!HTTP_DATES.some((form) => form.test(date))) return Number.NaN;
  return Date.parse(date.endsWith("GMT") ? date : `${date} GMT`);
}

/**
 * The milliseconds that a `Retry-After` header asks to wait, in seconds or by a date (RFC 9110 §10.2.3).
 * @param now milliseconds since the epoch
 * @returns undefined if the header is missing or can't be read
 */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  const given = (header ?? "").trim();
  const wait = /^\d+$/.test(given) ? Number(given) * 1000 : timeOf(given) - now;
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}
