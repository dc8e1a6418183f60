/** Returns the current time in milliseconds since the epoch. Injected, so that tests can control it. */
export type Clock = () => number;

/** ISO 8601 in UTC with milliseconds: the form in which times are stored, compared and sent in responses. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

const FIRST_MS = Date.parse("0001-01-01T00:00:00Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** Whether a time is in the years 0001 to 9999, which ISO 8601 writes with four digits. False for NaN. */
export function isFourDigitYear(milliseconds: number): boolean {
  return milliseconds >= FIRST_MS && milliseconds <= LAST_MS;
}
