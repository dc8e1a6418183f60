const DAY_MS = 86_400_000;
/** Days whose offset is remembered: a century. */
const DAYS_MAX = 36_525;

/** The end of a date in Intl's format `longOffset`: `GMT`, `GMT+05:30` or `GMT-00:44:30`. */
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

/** Names that Intl knows: a mapping may hold a thousand, and asking Intl takes a tenth of a millisecond. */
const known = new Set<string>();
/** More names than a customer's mappings have. */
const KNOWN_MAX = 1000;

/** Whether a name is a time zone of the IANA database, such as `Europe/Berlin` or `UTC`. */
export function isTimeZone(name: string): boolean {
  if (known.has(name)) return true;
  // Intl takes offsets such as +01:00 too.
  if (!/^[a-z]/i.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions();
  } catch {
    return false;
  }
  if (known.size < KNOWN_MAX) known.add(name);
  return true;
}

/**
 * Makes the function that converts local times of a zone to instants. A local time is given as the milliseconds since
 * the epoch at which UTC shows it. A time that a change of clocks skips or doubles has the offset before the change.
 */
export function createTimeZone(name: string): (local: number) => number {
  const clock = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" });
  const findOffset = (instant: number): number => {
    const [, sign, hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(clock.format(instant)) ?? [];
    const size = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
    return sign === "-" ? -size : size;
  };

  /** Offsets by day of UTC; null for days on which the clocks change. Asking Intl takes ten times as long. */
  const offsets = new Map<number, number | null>();
  const offsetAt = (instant: number): number => {
    const day = Math.floor(instant / DAY_MS);
    let offset = offsets.get(day);
    if (offset === undefined) {
      const first = findOffset(day * DAY_MS);
      offset = first === findOffset((day + 1) * DAY_MS) ? first : null;
      if (offsets.size >= DAYS_MAX) offsets.clear();
      offsets.set(day, offset);
    }
    return offset ?? findOffset(instant);
  };

  return (local) => {
    const before = local - offsetAt(local - DAY_MS);
    if (offsetAt(before) === local - before) return before;
    const after = local - offsetAt(local + DAY_MS);
    return offsetAt(after) === local - after ? after : before;
  };
}
