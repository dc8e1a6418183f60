/** Longer texts aren't dates. */
const DATE_MAX_CHARACTERS = 40;
/** Years of the days below: a quick check, which few texts pass. */
const YEAR = /0000|0001|1601|1753|1899|19(?:00|04|69|70)|9999/;
/** Zero as a date, a time or a number. */
const ZERO = /^(?=.*0)[0\s:./,T-]+Z?$/i;
/** The days from which programs count, and their last one: year, month and day. */
const NO_DAYS: ReadonlySet<string> = new Set([
  "0000-1-1",
  "0001-1-1",
  "1601-1-1",
  "1753-1-1",
  "1899-12-30",
  "1899-12-31",
  "1900-1-0",
  "1900-1-1",
  "1904-1-1",
  "1970-1-1",
  "9999-12-31",
]);
/** Unix times of the earliest of these days. */
const NO_UNIX_TIMES: ReadonlySet<string> = new Set(
  ["-62135596800", "-2209161600", "-2209075200", "-2208988800"].flatMap((seconds) => [seconds, `${seconds}000`]),
);

const CLOCK = String.raw`(?:(?:T|,? )?(?<hour>\d\d?):?(?<minute>\d\d)(?::?(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?)?`;
const HALF_AND_ZONE = String.raw`(?: ?(?<half>[AP])\.?M\.?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))*`;
const PATTERNS = [
  String.raw`(?<year>\d{4})(?<between>[-/.]?)(?<a>\d\d?)\k<between>(?<b>\d\d?)`,
  String.raw`(?<a>\d\d?)(?<between>[-/.])(?<b>\d\d?)\k<between>(?<year>\d{4})`,
  String.raw`(?:[A-Z]{3},? )?(?<b>\d\d?)(?<between>[-/ ])(?<a>Jan|Dec)[a-z]*\k<between>(?<year>\d{4})`,
  String.raw`(?:[A-Z]{3},? )?(?<a>Jan|Dec)[a-z]*\.? (?<b>\d\d?),? (?<year>\d{4})`,
].map((date) => new RegExp(`^${date}${CLOCK}${HALF_AND_ZONE}$`, "i"));

function numberOf(part: string): number {
  return { jan: 1, dec: 12 }[part.toLowerCase()] ?? Number(part);
}

/** Whether a day is one of those. Either number may be the month. */
function isNoDay(year: string, a: number, b: number): boolean {
  return NO_DAYS.has(`${year}-${a}-${b}`) || NO_DAYS.has(`${year}-${b}-${a}`);
}

/**
 * Whether programs write a text where there is no date: zeros, or the day from which they count, at midnight. Unix time
 * begins at another hour in most time zones.
 */
export function isNoDate(text: string): boolean {
  if (text.length > DATE_MAX_CHARACTERS) return false;
  if (ZERO.test(text) || NO_UNIX_TIMES.has(text)) return true;
  if (!YEAR.test(text)) return false;
  for (const pattern of PATTERNS) {
    const found = pattern.exec(text)?.groups;
    if (!found) continue;
    const { year = "", a = "", b = "", hour = "0", minute = "0", second = "0", fraction = "0", half = "" } = found;
    const month = numberOf(a);
    const day = numberOf(b);
    const isWhole = Number(second) + Number(fraction) === 0;
    const isMidnight = isWhole && Number(minute) === 0 && (Number(hour) === 0 || (hour === "12" && /a/i.test(half)));
    if (isNoDay(year, month, day) && (isMidnight || year === "9999")) return true;
    const isEpoch = (year === "1969" && month + day === 43) || (year === "1970" && month + day === 2);
    if (isEpoch && isWhole && Number(minute) % 15 === 0) return true;
  }
  return false;
}
