import { LANGUAGE, shownTime as shownMoment } from "@work-items/importer/proposals/shown-time.ts";

/** A moment, such as "4 Mar 2024, 20:00", in the browser's time zone; empty for none. */
export function shownTime(time: string | null, timeZone?: string): string {
  return time === null ? "" : shownMoment(time, timeZone);
}

/** A month such as "2024-03" as "Mar 2024", a year unchanged. */
export function shownPeriod(period: string): string {
  const style = { month: "short", year: "numeric", timeZone: "UTC" } as const;
  return period.includes("-") ? new Date(`${period}-01`).toLocaleDateString(LANGUAGE, style) : period;
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
