/** The sentence of an error, for people. */
export const sentenceOf = (error: unknown): string =>
  error instanceof Error ? error.message : "That did not work. Try again.";

/** A moment as the browser's language writes it; empty for none. */
export const shownTime = (time: string | null): string =>
  time === null ? "" : new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

/** A number as the browser's language writes it. */
export const shownNumber = (value: number): string => value.toLocaleString();
