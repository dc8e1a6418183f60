/** The date of HTTP, and the two forms of old servers (RFC 9110 §5.6.7). Only the last doesn't end with GMT, and means it. */
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
 * The milliseconds to wait that a `Retry-After` header asks for, in seconds or by a date (RFC 9110 §10.2.3).
 * @param now milliseconds since the epoch
 * @returns undefined without a header that can be read
 */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  const given = (header ?? "").trim();
  const wait = /^\d+$/.test(given) ? Number(given) * 1000 : timeOf(given) - now;
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}
