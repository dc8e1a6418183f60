/** The language of all texts. In its dates, day and month can't be confused. */
export const LANGUAGE = "en-GB";

/** A moment, such as "4 Mar 2024, 20:00". @param timeZone that of this computer unless it is named */
export function shownTime(time: string, timeZone?: string): string {
  return new Date(time).toLocaleString(LANGUAGE, { dateStyle: "medium", timeStyle: "short", timeZone });
}

/** A day in UTC, such as "4 Mar 2024". */
export function shownDay(time: string): string {
  return new Date(time).toLocaleDateString(LANGUAGE, { dateStyle: "medium", timeZone: "UTC" });
}
