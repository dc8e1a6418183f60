/** Milliseconds since the epoch of a date and time in UTC; NaN if it doesn't exist. */
export function utcTime(year: number, month: number, day: number, hour = 0, minute = 0, second = 0, ms = 0): number {
  const time = new Date(0);
  time.setUTCFullYear(year, month - 1, day);
  const isDate = time.getUTCMonth() === month - 1 && time.getUTCDate() === day;
  if (!isDate || hour > 23 || minute > 59 || second > 59) return Number.NaN;
  return time.setUTCHours(hour, minute, second, ms);
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Milliseconds of an offset from UTC; NaN if RFC 3339 doesn't allow it: hours go up to 23, minutes to 59. */
export function offsetOf(sign: string, hours: string, minutes = "0"): number {
  if (Number(hours) > 23 || Number(minutes) > 59) return Number.NaN;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
}

/** The groups that an expression for date-times has found: digits, the sign of an offset, and text that means UTC. */
type Found = Readonly<Record<string, string | undefined>>;

/** A date and time as it is written. */
export interface WrittenTime {
  /** Milliseconds since the epoch, read as UTC if there is no offset; NaN if the time doesn't exist. */
  readonly time: number;
  readonly hasOffset: boolean;
  /** Whether the second is 60. `time` is then the second before; see `instantOf`. */
  readonly isSecond60: boolean;
}

/** Reads the groups year, month, day and, if found, hour, minute, second, fraction, utc, sign, hours and minutes. */
export function writtenTime(found: Found): WrittenTime {
  const { year, month, day, hour, minute, second, fraction = "", utc, sign, hours = "0", minutes } = found;
  const isSecond60 = Number(second) === 60;
  const s = isSecond60 ? 59 : Number(second ?? 0);
  const ms = Number(fraction.slice(0, 3).padEnd(3, "0"));
  const time = utcTime(Number(year), Number(month), Number(day), Number(hour ?? 0), Number(minute ?? 0), s, ms);
  const offset = sign === undefined ? 0 : offsetOf(sign, hours, minutes);
  return { time: time - offset, hasOffset: utc !== undefined || sign !== undefined, isSecond60 };
}

/**
 * Milliseconds since the epoch of a time in UTC. Leap seconds are at 23:59:60 UTC and count as the next second; no other
 * minute has a second 60.
 * @returns NaN if the time doesn't exist
 */
export function instantOf({ time, isSecond60 }: Pick<WrittenTime, "time" | "isSecond60">): number {
  if (!isSecond60) return time;
  const timeOfDay = ((time % DAY_MS) + DAY_MS) % DAY_MS;
  return timeOfDay >= DAY_MS - SECOND_MS ? time + SECOND_MS : Number.NaN;
}

/** A date-time of RFC 3339 §5.6, whose letters may be lower case. */
const DATE_TIME =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)T(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)(?:\.(?<fraction>\d+))?(?:(?<utc>Z)|(?<sign>[+-])(?<hours>\d\d):(?<minutes>\d\d))$/i;

/** Milliseconds since the epoch of an RFC 3339 date-time; NaN for other texts. Further digits are cut off. */
export function parseDateTime(text: string): number {
  const found = DATE_TIME.exec(text)?.groups;
  return found === undefined ? Number.NaN : instantOf(writtenTime(found));
}
