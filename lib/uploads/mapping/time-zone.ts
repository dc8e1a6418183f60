import { create, toZonedDateTime } from "temporal-polyfill/fns/PlainDateTime";

/**
 * Converts a local time of a zone to an instant. The local time is given as if it were UTC, in milliseconds since the epoch.
 * When clocks change, a skipped or repeated time is read with the earlier offset.
 */
export function toInstant(local: number, timeZone: string): number {
  const utc = new Date(local);
  const dateTime = create(
    utc.getUTCFullYear(),
    utc.getUTCMonth() + 1,
    utc.getUTCDate(),
    utc.getUTCHours(),
    utc.getUTCMinutes(),
    utc.getUTCSeconds(),
    utc.getUTCMilliseconds(),
  );
  return toZonedDateTime(dateTime, timeZone).epochMilliseconds;
}

/** Whether a name is a time zone of the IANA database, such as `Europe/Berlin` or `UTC`. */
export function isTimeZone(name: string): boolean {
  // Temporal takes offsets such as +01:00 too.
  if (!/^[a-z]/i.test(name)) return false;
  try {
    toInstant(0, name);
    return true;
  } catch {
    return false;
  }
}
