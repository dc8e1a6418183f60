/** The time now, in milliseconds since the epoch. Injected, so that tests can move it. */
export type Clock = () => number;

/** ISO 8601 in UTC with milliseconds, the one form in which times are stored, compared and answered. */
export const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();
