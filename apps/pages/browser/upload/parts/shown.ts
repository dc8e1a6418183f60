import { LANGUAGE, shownTime as shownMoment } from "@work-items/importer/proposals/shown-time.ts";

/** A moment, such as "4 Mar 2024, 20:00", in the browser's time zone; empty for none. */
export function shownTime(time: string | null, timeZone?: string): string {
  return time === null ? "" : shownMoment(time, timeZone);
}

/** Spans of time that are shown, in seconds. */
const SPANS = [["day", 86_400] as const, ["hour", 3600] as const, ["minute", 60] as const];
const RELATIVE = new Intl.RelativeTimeFormat(LANGUAGE, { numeric: "auto" });
/** After this many days a moment is shown as it is. */
const RELATIVE_DAYS = 30;

/** How long ago a moment was, such as "5 minutes ago". */
export function shownAgo(time: string, now = Date.now()): string {
  const seconds = (now - Date.parse(time)) / 1000;
  if (seconds > RELATIVE_DAYS * 86_400) return shownTime(time);
  const [unit, length] = SPANS.find(([, span]) => seconds >= span) ?? [];
  return unit ? RELATIVE.format(-Math.floor(seconds / length), unit) : "just now";
}

/** A number as the page's language writes it, such as "1,234". */
export function shownNumber(value: number): string {
  return value.toLocaleString(LANGUAGE);
}

/** A part, 0 to 1, as a percentage. */
export function shownPart(part: number): string {
  return part.toLocaleString(undefined, { style: "percent" });
}

/** A text, cut after a number of characters. */
export function shownStart(text: string, characters: number): string {
  return text.length > characters ? `${text.slice(0, characters)}…` : text;
}

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

/** A number of bytes, such as "3.9 MB". */
export function shownBytes(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const options = { style: "unit", unit: UNITS[step] ?? "byte", unitDisplay: step === 0 ? "long" : "short" } as const;
  return (bytes / 1000 ** step).toLocaleString(LANGUAGE, { ...options, maximumFractionDigits: 1 });
}

/** A number of things, such as "1 row" or "2 rows". */
export function countOf(count: number, thing: string): string {
  return `${shownNumber(count)} ${thing}${count === 1 ? "" : "s"}`;
}
