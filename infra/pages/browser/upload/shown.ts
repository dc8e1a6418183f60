/** The sentence of an error, for people. */
export const sentenceOf = (error: unknown): string =>
  error instanceof Error ? error.message : "That did not work. Try again.";

/** A moment as the browser's language writes it; empty for none. */
export const shownTime = (time: string | null): string =>
  time === null ? "" : new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

/** A number as the browser's language writes it. */
export const shownNumber = (value: number): string => value.toLocaleString();

/** A number of things, such as "1 row" or "2 rows". */
export function countOf(count: number, thing: string): string {
  return `${shownNumber(count)} ${thing}${count === 1 ? "" : "s"}`;
}
